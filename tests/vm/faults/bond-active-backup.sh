# breaks: the storage ports form an active-backup bond; unproven with RDMA
# cause: nic.bond
# expect: nic.bond=warn@bond0 nic.bond=absent@node rdma.gid=skip@rocep59s0f1/1 nic.subnet=skip@node
# remedy: no, it changes the network's layout

apply() {
    bond_up mode active-backup miimon 100
}

heal() {
    bond_heal
}
