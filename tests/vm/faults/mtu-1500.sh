# breaks: the storage ports stand at the Ethernet default MTU
# cause: nic.mtu
# expect: nic.mtu=warn@enp59s0f0np0 nic.mtu=warn@enp59s0f1np1 rdma.mtu=warn@rocep59s0f0/1 rdma.mtu=warn@rocep59s0f1/1

apply() {
    ip link set "$port0" mtu 1500 && ip link set "$port1" mtu 1500
}

heal() {
    ip link set "$port0" mtu 9000 && ip link set "$port1" mtu 9000
}
