# breaks: RDMA devices belong to one network namespace, and AIStor runs in a pod
# args: --deployment container
# cause: rdma.namespace
# expect: rdma.namespace=fail@node
# remedy: no, the mode cannot change while there are other network namespaces

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
