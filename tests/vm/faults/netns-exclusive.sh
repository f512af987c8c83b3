# breaks: RDMA devices belong to one network namespace; a service of the host sees them all the same, so this is fine
# cause: rdma.namespace
# expect: rdma.namespace=pass@node

apply() {
    netns_mode exclusive
}

heal() {
    netns_mode shared
}

netns_mode() { # MODE: only without another network namespace; the peers come home meanwhile
    ip netns delete peer
    wait_until 5 rdma system set netns "$1" || return
    nic_peers && nic_check
}
