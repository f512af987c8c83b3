# breaks: the storage ports protect different priorities
# cause: dcb.ports
# expect: dcb.ports=fail@node

apply() {
    dcb app replace dev "$port1" dscp-prio 26:4 && dcb pfc set dev "$port1" prio-pfc all:off 4:on
}

heal() {
    dcb app replace dev "$port1" dscp-prio 26:3 && dcb_pfc "$port1" && dcb_check "$port1"
}
