# breaks: the character device of an RDMA device is missing
# cause: rdma.access
# expect: rdma.access=fail@node rdma.provider=blocked@rocep59s0f0
# remedy: no, udev makes the nodes and does not run here

apply() {
    rm /dev/infiniband/uverbs0
}

heal() {
    [[ -e /dev/infiniband/uverbs0 ]] && return
    # shellcheck disable=SC2046 # two words
    mknod -m 666 /dev/infiniband/uverbs0 c $(tr : ' ' </sys/class/infiniband_verbs/uverbs0/dev)
}
