# breaks: the far end of a storage port's cable is dead
# cause: nic.link
# expect: nic.link=fail@enp59s0f0np0 rdma.port=blocked@rocep59s0f0/1
# remedy: no, the cable and the switch are out of the node's reach

apply() {
    ip -n peer link set "$peer0" down && wait_until 5 holds "/sys/class/net/$port0/carrier" 0
}

heal() {
    ip -n peer link set "$peer0" up && nic_check && rdma_active "$rdma0"
}
