# breaks: no driver is bound to a storage port's PCI function
# cause: nic.driver
# expect: nic.driver=fail@enp59s0f0np0

apply() {
    rdma link delete "$rdma0" && echo "$pci0" >/sys/bus/pci/drivers/ice/unbind
}

heal() {
    [[ -e /sys/bus/pci/devices/$pci0/driver ]] || echo "$pci0" >/sys/bus/pci/drivers/ice/bind
    nic_port "$pci0" "$port0" "$address0" && dcb_up_ice "$port0" && nic_check && rdma_device "$rdma0" "$port0" "$pci0"
}
