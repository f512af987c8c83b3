# breaks: every priority is lossless
# cause: dcb.pfc
# expect: dcb.pfc=fail@enp59s0f0np0

apply() {
    dcb pfc set dev "$port0" prio-pfc all:on &&
        expect "prio-pfc ${all_pfc_off//off/on}" dcb pfc show dev "$port0" prio-pfc
}

heal() {
    dcb_pfc "$port0" && dcb_check "$port0"
}
