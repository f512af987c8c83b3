# breaks: the storage ports protect different priorities
# cause: dcb.ports
# expect: dcb.ports=fail@node

apply() {
    dcb app flush dev "$port1" dscp-prio && dcb app add dev "$port1" dscp-prio 26:4
    dcb ets set dev "$port1" tc-tsa all:ets tc-bw 0:20 1:5 2:5 3:5 4:50 5:5 6:5 7:5
    dcb pfc set dev "$port1" prio-pfc all:off 4:on
    expect "prio-pfc ${all_pfc_off/4:off/4:on}" dcb pfc show dev "$port1" prio-pfc
}

heal() {
    dcb_up_ice "$port1"
}
