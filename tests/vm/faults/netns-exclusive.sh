# breaks: RDMA devices belong to one network namespace, and the service runs in another
# cause: rdma.namespace
# expect: rdma.namespace=fail@node

apply() {
    rdma system set netns exclusive
}

heal() {
    rdma system set netns shared
}
