# breaks: an 802.3ad bond whose members' RDMA devices both carry its GIDs: flows hashed to the other port are lost
# cause: nic.bond
# expect: nic.bond=fail@bond0 nic.bond=absent@node nic.subnet=skip@node
# remedy: no, it changes the network's layout

apply() {
    bond_up mode 802.3ad miimon 100 lacp_rate fast
}

heal() {
    bond_heal
}
