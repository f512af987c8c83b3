# breaks: RDMA devices belong to one network namespace, and AIStor runs in a pod
# args: --deployment container --skip dcb.*
# cause: rdma.namespace
# expect: rdma.namespace=fail@node
# remedy: no, the mode cannot change while there are other network namespaces

apply() {
    netns_mode exclusive
}

heal() {
    netns_mode shared
}
