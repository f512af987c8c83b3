# breaks: all bandwidth on TC 0, as ice leaves it on entering L3 DSCP mode
# cause: dcb.ets
# expect: dcb.ets=fail@enp59s0f0np0

apply() {
    dcb ets set dev "$port0" tc-bw all:0 0:100 &&
        expect "tc-bw 0:100 1:0 2:0 3:0 4:0 5:0 6:0 7:0" dcb ets show dev "$port0" tc-bw
}

heal() {
    dcb_bandwidth "$port0" && dcb_check "$port0"
}
