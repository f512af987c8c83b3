#!/bin/bash
# RoCE frames land in the class that the program's chain names: DSCP 26 in TC 3 with an E810 in L3 DSCP mode, and in priority 2 in
# PCP mode. Two ports of one card are cabled to each other; frames are counted by priority on the wire.
. tests/vm/node/lib.sh

program=$1
"$node/reset.sh" || exit

ports_up() { # the two ends in one network namespace
    insmod "$VM_NICSIM/nicsim.ko" funcs=8086:1592:ice@3b:00.0,8086:1592:ice@3b:00.1 || fail "nicsim does not load"
    write /proc/sys/net/ipv6/conf/default/accept_dad 0
    nic_rename "$pci0" "$port0"
    nic_rename "$pci1" "$port1"
    local name
    for name in all "$port0" "$port1"; do
        write "/proc/sys/net/ipv4/conf/$name/accept_local" 1
        write "/proc/sys/net/ipv4/conf/$name/rp_filter" 0
    done
    ip -batch - <<X
link set $port0 mtu 9000 up
link set $port1 mtu 9000 up
address add 192.0.2.11/24 dev $port0
address add 192.0.2.12/24 dev $port1
X
}

sent() { # PRIORITY: RoCE frames that left port 0
    cat "$knobs/$pci0/nic/traffic/tx_prio$1"
}

write_with_tos() { # TOS: 100 RDMA writes from port 0 to port 1
    ib_write_lat -d "$rdma1" -x 1 -n 100 -s 64 --tclass="$1" >/run/write.server 2>&1 &
    sleep 2
    timeout 60 ib_write_lat -d "$rdma0" -x 1 -n 100 -s 64 --tclass="$1" 192.0.2.12 >/run/write.client 2>&1 ||
        fail "no RDMA write: $(tail -3 /run/write.client)"
    wait
}

chain_says() { # TEXT: the chain of port 0 for ToS 104, as the program prints it
    SOURCE_DATE_EPOCH=0 "$program" run --format json --only dcb.chain,dcb.mode --interface "$port0" >/run/report.json
    grep -qF "$1" /run/report.json || fail "the program does not say '$1': $(grep observed /run/report.json)"
}

grows() { # PRIORITY: ToS 104 is counted there and in no other class
    local before after p
    for p in {0..7}; do before[p]=$(sent "$p"); done
    write_with_tos 104
    for p in {0..7}; do
        after=$(($(sent "$p") - before[p]))
        if ((p == $1)); then ((after >= 100)) || fail "only $after frames in class $1"
        elif ((p != 0)); then ((after < 100)) || fail "$after frames in class $p"; fi
    done
}

ports_up
dcb_up_ice "$port0"
dcb_up_ice "$port1"
rdma_up ice irdma
chain_says "ToS 104 -> DSCP 26 -> TC 3 -> PFC on -> bandwidth 50 %"
grows 3

# Out of L3 DSCP mode, with PFC and bandwidth as before: the trap.
for port in "$port0" "$port1"; do
    dcb app flush dev "$port" dscp-prio
    dcb_bandwidth "$port" prio-tc 0:0 1:1 2:2 3:3 4:4 5:5 6:6 7:7
    dcb_pfc "$port"
done
chain_says "DSCP 26 lands in priority 2 while PFC protects 3"
grows 2
rdma_down
nic_down
