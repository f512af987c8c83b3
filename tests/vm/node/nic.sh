# The card, its cables, names, addresses and MTU.
# shellcheck shell=bash

nic_up() { # VENDOR:DEVICE:DRIVER [,FURTHER FUNCTION]…
    local further
    printf -v further %s "${@:2}"
    [[ -f $VM_NICSIM/nicsim.ko ]] || fail "no nicsim.ko in '$VM_NICSIM'"
    insmod "$VM_NICSIM/nicsim.ko" "funcs=$1@3b:00.0,8086:1521:igb@5e:00.0,$1@3b:00.1,8086:1521:igb@5e:00.1$further" ||
        fail "nicsim does not load"
    # No duplicate address detection: GIDs are there at once.
    write /proc/sys/net/ipv6/conf/default/accept_dad 0
    nic_peers
    nic_port "$pci0" "$port0" "$address0"
    nic_port "$pci1" "$port1" "$address1"
    nic_check
}

nic_peers() {
    ip netns add peer
    ip -n peer link set lo up
    nic_peer "$peer_pci0" "$peer0" "$peer_address0"
    nic_peer "$peer_pci1" "$peer1" "$peer_address1"
}

nic_rename() { # PCI NAME
    local path=(/sys/bus/pci/devices/"$1"/net/*)
    [[ ${path[0]##*/} == "$2" ]] || ip link set "${path[0]##*/}" name "$2" || fail "$1 has no netdev to become $2"
}

nic_port() { # PCI NAME ADDRESS
    nic_rename "$1" "$2"
    ip -batch - <<E
link set $2 mtu 9000 up
address replace $3/24 dev $2
E
}

nic_peer() { # PCI NAME ADDRESS
    # In the namespace already when a fault is healed.
    if [[ $(ip netns exec peer ls /sys/class/net) != *"$2"* ]]; then
        nic_rename "$1" "$2"
        ip link set "$2" netns peer || fail "$2 does not change its namespace"
    fi
    ip -n peer -batch - <<E
link set $2 mtu 9000 up
address replace $3/24 dev $2
E
}

nic_check() {
    local port
    for port in "$port0" "$port1"; do
        wait_until 5 holds "/sys/class/net/$port/operstate" up || fail "$port is not up"
        holds "/sys/class/net/$port/mtu" 9000 || fail "$port has MTU $(<"/sys/class/net/$port/mtu")"
    done
    for port in "$peer_address0" "$peer_address1"; do
        ping -qc1 -W2 "$port" >/dev/null || fail "$port does not answer"
    done
}

nic_down() {
    rmmod nicsim 2>/dev/null
    ip netns delete peer 2>/dev/null
    [[ ! -e /sys/module/nicsim ]]
}
