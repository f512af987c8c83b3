# breaks: the RDMA driver's module is not loaded
# cause: rdma.modules
# expect: rdma.modules=absent@node rdma.modules=fail@enp59s0f0np0 rdma.modules=fail@enp59s0f1np1 rdma.device=blocked@enp59s0f0np0 rdma.device=blocked@enp59s0f1np1
# gone: rocep59s0f0 rocep59s0f1

apply() {
    rdma link delete "$rdma0" && rdma link delete "$rdma1" && rmmod irdma
}

heal() {
    rdma_driver_modules ice irdma
    driver
}

driver() { # makes its RDMA devices
    rdma_device "$rdma0" "$port0" "$pci0" && rdma_device "$rdma1" "$port1" "$pci1"
}
