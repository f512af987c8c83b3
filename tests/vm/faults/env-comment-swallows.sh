# breaks: a comment that ends in a backslash swallows the line that switches RDMA on
# node: service
# cause: env.syntax
# expect: env.syntax=fail@/etc/default/minio:5 env.internode=fail@MINIO_RDMA_INTERNODE
# gone: node
# remedy: no, the line is for a person to mend

apply() {
    sed -i 's/^MINIO_RDMA_INTERNODE/# faster \\\n&/' "$settings" && service_restart && [[ $(<"$truth") == "tcp: not switched on" ]]
}

heal() {
    service_heal
}
