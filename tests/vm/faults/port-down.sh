# breaks: a storage port is administratively down
# cause: nic.link
# expect: nic.link=fail@enp59s0f0np0 rdma.port=blocked@rocep59s0f0/1

apply() {
    ip link set "$port0" down
}

heal() {
    ip link set "$port0" up && ip address replace "$address0/24" dev "$port0" && nic_check && rdma_active "$rdma0"
}
