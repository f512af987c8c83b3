# breaks: the driver unplugged RDMA from the members of a bond
# cause: nic.bond
# expect: nic.bond=fail@bond0 nic.bond=absent@node rdma.device=blocked@enp59s0f0np0 rdma.device=blocked@enp59s0f1np1 nic.subnet=skip@node
# gone: rocep59s0f0 rocep59s0f1
# remedy: no, it changes the network's layout

apply() {
    bond_up mode active-backup miimon 100 && rdma link delete "$rdma0" && rdma link delete "$rdma1"
}

heal() {
    bond_heal
}
