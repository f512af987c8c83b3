# breaks: the lossless class has no DSCP entry, so the automatic detection finds nothing
# cause: dcb.class
# expect: dcb.class=fail@enp59s0f0np0

apply() {
    dcb app flush dev "$port0" dscp-prio
    dcb app add dev "$port0" dscp-prio 48:6 && dcb_bandwidth "$port0" && dcb_pfc "$port0"
    expect "dscp-prio 48:6" dcb -N app show dev "$port0" dscp-prio
}

heal() {
    dcb app flush dev "$port0" dscp-prio
    dcb_up_ice "$port0"
}
