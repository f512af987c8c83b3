# DCB: priority 3 lossless, DSCP 26 into it, bandwidth for every class.
# shellcheck shell=bash

all_pfc_off="0:off 1:off 2:off 3:off 4:off 5:off 6:off 7:off"

# ice: the first DSCP entry enters L3 DSCP mode, where the "priority" is a TC, and leaves all bandwidth on TC 0.
dcb_up_ice() { # PORT
    dcb app flush dev "$1" dscp-prio
    dcb app add dev "$1" dscp-prio 26:3
    dcb_bandwidth "$1"
    dcb_pfc "$1"
    dcb_check "$1"
}

# mlx5: DSCP entries switch the trust; its TCs start crossed (1, 0, 2 …), so the map comes with the bandwidth. Link pause is on
# at first, and stays on beside PFC.
dcb_up_mlx5() { # PORT
    ethtool -A "$1" rx off tx off || fail "link pause of $1 stays on"
    dcb app add dev "$1" dscp-prio 26:3
    dcb_bandwidth "$1" prio-tc 0:0 1:1 2:2 3:3 4:4 5:5 6:6 7:7
    dcb_pfc "$1"
    dcb_check "$1"
}

dcb_bandwidth() { # PORT [FURTHER ETS SETTINGS…]
    dcb ets set dev "$1" tc-tsa all:ets tc-bw 0:20 1:5 2:5 3:50 4:5 5:5 6:5 7:5 "${@:2}"
}

dcb_pfc() { # PORT
    dcb pfc set dev "$1" prio-pfc all:off 3:on
}

dcb_check() { # PORT
    expect "dscp-prio 26:3" dcb -N app show dev "$1" dscp-prio
    expect "tc-bw 0:20 1:5 2:5 3:50 4:5 5:5 6:5 7:5" dcb ets show dev "$1" tc-bw
    expect "prio-tc 0:0 1:1 2:2 3:3 4:4 5:5 6:6 7:7" dcb ets show dev "$1" prio-tc
    expect "prio-pfc ${all_pfc_off/3:off/3:on}" dcb pfc show dev "$1" prio-pfc
}
