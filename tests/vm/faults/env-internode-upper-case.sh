# breaks: MINIO_RDMA_INTERNODE=ON, which counts as off
# node: service
# cause: env.internode
# expect: env.internode=fail@MINIO_RDMA_INTERNODE

apply() {
    sed -i 's/INTERNODE=on/INTERNODE=ON/' "$settings" && service_restart && [[ $(<"$truth") == "tcp: not switched on" ]]
}

heal() {
    service_heal
}
