# breaks: RDMA devices belong to one network namespace; a service of the host sees them all the same, so this is fine
# cause: rdma.namespace
# expect: rdma.namespace=pass@node

apply() {
    netns_mode exclusive
}

heal() {
    netns_mode shared
}
