# breaks: a firewall on the way drops TCP 5555
# node: service
# cause: peers.port
# expect: peers.port=fail@n2
# remedy: no, the firewall is the peer's

apply() {
    ip netns exec peer nft -f - <<'N'
table inet fault {
    chain input {
        type filter hook input priority 0;
        tcp dport 5555 drop
    }
}
N
}

heal() {
    ip netns exec peer nft delete table inet fault
}
