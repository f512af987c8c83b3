# breaks: PFC on priority 3 without the DSCP entry: DSCP 26 lands in priority 2
# cause: dcb.mode
# expect: dcb.mode=fail@enp59s0f0np0

apply() {
    dcb app flush dev "$port0" dscp-prio
    dcb_bandwidth "$port0" prio-tc 0:0 1:1 2:2 3:3 4:4 5:5 6:6 7:7
    dcb_pfc "$port0" && expect "" dcb app show dev "$port0" dscp-prio
}

heal() {
    dcb app flush dev "$port0" dscp-prio
    dcb_up_ice "$port0"
}
