# breaks: an MTU between 4096 and 4191: the device shows a path MTU of 4096, a connection gets 2048
# cause: nic.mtu
# expect: nic.mtu=warn@enp59s0f0np0 nic.mtu=warn@enp59s0f1np1 rdma.mtu=warn@rocep59s0f0/1 rdma.mtu=warn@rocep59s0f1/1

apply() {
    ip link set "$port0" mtu 4100 && ip link set "$port1" mtu 4100
}

heal() {
    ip link set "$port0" mtu 9000 && ip link set "$port1" mtu 9000
}
