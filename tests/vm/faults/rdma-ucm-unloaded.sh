# breaks: rdma_ucm is not loaded, so there is no /dev/infiniband/rdma_cm
# cause: rdma.modules
# expect: rdma.modules=fail@node rdma.access=blocked@node

apply() {
    rmmod rdma_ucm
}

heal() {
    modprobe rdma_ucm
}
