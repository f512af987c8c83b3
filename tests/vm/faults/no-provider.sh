# breaks: the package of libibverbs' providers is not installed
# cause: rdma.provider
# expect: rdma.provider=fail@rocep59s0f0 rdma.provider=fail@rocep59s0f1
# remedy: no, installing a package needs a network

apply() {
    local dir
    mkdir -p /run/vm/empty
    for dir in /etc/libibverbs.d /usr/lib/x86_64-linux-gnu/libibverbs; do
        mount --bind /run/vm/empty "$dir" || return
    done
}

heal() {
    umount /etc/libibverbs.d /usr/lib/x86_64-linux-gnu/libibverbs
}
