# breaks: no lossless priority on a storage port
# cause: dcb.pfc
# expect: dcb.pfc=fail@enp59s0f0np0 dcb.persistence=skip@enp59s0f0np0

apply() {
    dcb pfc set dev "$port0" prio-pfc all:off && expect "prio-pfc $all_pfc_off" dcb pfc show dev "$port0" prio-pfc
}

heal() {
    dcb_pfc "$port0" && dcb_check "$port0"
}
