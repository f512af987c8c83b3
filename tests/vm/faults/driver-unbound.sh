# breaks: no driver is bound to a storage port's PCI function
# cause: nic.driver
# expect: nic.driver=fail@0000:3b:00.0 nic.selected=warn@node dcb.ports=skip@node nic.subnet=skip@node
# gone: enp59s0f0np0 rocep59s0f0

apply() {
    rdma link delete "$rdma0" && echo "$pci0" >/sys/bus/pci/drivers/ice/unbind
}

heal() {
    [[ -e /sys/bus/pci/devices/$pci0/driver ]] || echo "$pci0" >/sys/bus/pci/drivers/ice/bind
    nic_port "$pci0" "$port0" "$address0" && dcb_up_ice "$port0" && nic_check && rdma_device "$rdma0" "$port0" "$pci0"
}

driver() { # what udev and the driver do then
    nic_port "$pci0" "$port0" "$address0" && rdma_device "$rdma0" "$port0" "$pci0"
}
