#!/bin/bash
# Bonds: the members' RDMA devices both carry an 802.3ad bond's address as a GID, of an active-backup bond only the
# active one does (the other keeps the bond's link-local GID).
. tests/vm/node/lib.sh
have_node healthy

bond_gid() { # RDMA DEVICE: the netdev of the GID that holds 192.0.2.11
    local file
    for file in "/sys/class/infiniband/$1/ports/1/gids/"?; do
        holds "$file" 0000:0000:0000:0000:0000:ffff:c000:020b && cat "${file/gids/gid_attrs\/ndevs}"
    done
    return 0
}

bond_up mode 802.3ad miimon 100 lacp_rate fast
expect bond0 bond_gid "$rdma0"
expect bond0 bond_gid "$rdma1"
bond_heal

bond_up mode active-backup miimon 100
expect bond0 bond_gid "$rdma0"
expect "" bond_gid "$rdma1"
bond_heal
