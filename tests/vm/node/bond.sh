# A bond of the two storage ports, and one of their peers.
# shellcheck shell=bash

bond_up() { # BOND OPTIONS…: the first port's address moves to bond0
    local port
    modprobe bonding max_bonds=0
    ip -n peer link add bond0 type bond "$@"
    ip link add bond0 type bond "$@" || fail "no bond"
    for port in "$port0" "$port1"; do
        ip address flush dev "$port" scope global
        ip link set "$port" down
        ip link set "$port" master bond0 || fail "$port does not join the bond"
    done
    for port in "$peer0" "$peer1"; do
        ip -n peer address flush dev "$port" scope global
        ip -n peer link set "$port" down
        ip -n peer link set "$port" master bond0
    done
    ip -n peer -batch - <<E
link set bond0 mtu 9000 up
address add $peer_address0/24 dev bond0
E
    ip -batch - <<E
link set bond0 mtu 9000 up
address add $address0/24 dev bond0
E
    wait_until 10 holds /sys/class/net/bond0/carrier 1 || fail "bond0 has no carrier"
    wait_until 10 ping -qc1 -W1 "$peer_address0" >/dev/null || fail "$peer_address0 does not answer through bond0"
}

bond_heal() { # the ports stand alone again
    local device
    for device in "$rdma0" "$rdma1"; do
        rdma link delete "$device" 2>/dev/null
    done
    ip -n peer link delete bond0
    ip link delete bond0
    rmmod bonding # its file bonding_masters lies among the netdevs
    nic_peer "$peer_pci0" "$peer0" "$peer_address0"
    nic_peer "$peer_pci1" "$peer1" "$peer_address1"
    nic_port "$pci0" "$port0" "$address0"
    nic_port "$pci1" "$port1" "$address1"
    nic_check
    rdma_device "$rdma0" "$port0" "$pci0"
    rdma_device "$rdma1" "$port1" "$pci1"
    dcb_check "$port0"
    dcb_check "$port1"
}
