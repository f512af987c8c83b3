# breaks: link pause is on beside PFC
# node: mlx5
# cause: pause.global
# expect: pause.global=fail@enp59s0f0np0

apply() {
    ethtool -A "$port0" rx on tx on && ethtool -a "$port0" | grep -q 'RX:.*on'
}

heal() {
    ethtool -A "$port0" rx off tx off
}
