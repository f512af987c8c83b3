# breaks: a misspelt setting is ignored without a word
# node: service
# cause: env.names
# expect: env.names=warn@MINIO_RDMA_PEER_PROT
# gone: node
# remedy: no, which setting was meant is for the site to say

apply() {
    echo MINIO_RDMA_PEER_PROT=5556 >>"$settings" && service_restart
}

heal() {
    service_heal
}
