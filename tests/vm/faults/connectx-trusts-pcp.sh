# breaks: a ConnectX port trusts PCP, so untagged RoCE lands in priority 0
# node: mlx5
# cause: dcb.mode
# expect: dcb.mode=fail@enp59s0f0np0

apply() {
    dcb app flush dev "$port0" dscp-prio && expect "" dcb app show dev "$port0" dscp-prio
}

heal() {
    dcb_up_mlx5 "$port0"
}
