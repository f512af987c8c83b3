# breaks: a storage port has no RDMA device
# cause: rdma.device
# expect: rdma.device=fail@enp59s0f0np0
# gone: rocep59s0f0

apply() {
    rdma link delete "$rdma0"
}

heal() {
    rdma_device "$rdma0" "$port0" "$pci0"
}

driver() { # makes its RDMA device anew
    rdma_device "$rdma0" "$port0" "$pci0"
}
