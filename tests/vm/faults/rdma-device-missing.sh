# breaks: a storage port has no RDMA device
# cause: rdma.device
# expect: rdma.device=fail@enp59s0f0np0
# remedy: no, a simulated device does not come back with its driver's module

apply() {
    rdma link delete "$rdma0"
}

heal() {
    rdma_device "$rdma0" "$port0" "$pci0"
}
