# breaks: only root may open the RDMA character devices, the service's user may not
# cause: rdma.access
# expect: rdma.access=unknown@node

apply() {
    chmod 600 /dev/infiniband/uverbs*
}

heal() {
    chmod 666 /dev/infiniband/uverbs*
}
