# breaks: the storage ports have different MTUs, both large enough
# cause: nic.mtu
# expect: nic.mtu=fail@enp59s0f0np0 nic.mtu=fail@enp59s0f1np1

apply() {
    ip link set "$port1" mtu 4200
}

heal() {
    ip link set "$port1" mtu 9000
}
