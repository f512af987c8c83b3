# breaks: only root may open /dev/infiniband/rdma_cm
# cause: rdma.access
# expect: rdma.access=unknown@node

apply() {
    chmod 600 /dev/infiniband/rdma_cm
}

heal() {
    chmod 666 /dev/infiniband/rdma_cm
}
