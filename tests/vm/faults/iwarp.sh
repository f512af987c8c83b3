# breaks: the port runs iWARP instead of RoCEv2
# cause: rdma.protocol
# expect: rdma.protocol=fail@rocep59s0f0

apply() {
    protocol false true
}

heal() {
    protocol true false
}

protocol() { # ROCE IWARP: what is off goes first, both at once are refused
    [[ $1 == true ]] || devlink dev param set "pci/$pci0" name enable_roce value false cmode runtime
    devlink dev param set "pci/$pci0" name enable_iwarp value "$2" cmode runtime
    [[ $1 == false ]] || devlink dev param set "pci/$pci0" name enable_roce value true cmode runtime
    rdma_device "$rdma0" "$port0" "$pci0"
}

driver() { # replugs its RDMA device
    rdma_device "$rdma0" "$port0" "$pci0"
}
