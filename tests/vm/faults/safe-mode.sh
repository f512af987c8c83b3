# breaks: the DDP package did not load, the card runs in safe mode
# cause: nic.ddp
# expect: nic.ddp=fail@enp59s0f0np0 rdma.device=blocked@enp59s0f0np0 dcb.control=skip@enp59s0f0np0 dcb.persistence=skip@enp59s0f0np0
# gone: rocep59s0f0
# remedy: no, it installs a firmware file and reloads the driver

apply() {
    rdma link delete "$rdma0"
    write /sys/module/nicsim/parameters/safe_mode 1
    echo "$pci0" >/sys/bus/pci/drivers/ice/unbind
    echo "$pci0" >/sys/bus/pci/drivers/ice/bind
    nic_port "$pci0" "$port0" "$address0" && nic_check
}

heal() {
    write /sys/module/nicsim/parameters/safe_mode 0
    echo "$pci0" >/sys/bus/pci/drivers/ice/unbind
    echo "$pci0" >/sys/bus/pci/drivers/ice/bind
    nic_port "$pci0" "$port0" "$address0" && dcb_up_ice "$port0" && nic_check && rdma_device "$rdma0" "$port0" "$pci0"
}
