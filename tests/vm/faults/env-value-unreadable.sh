# breaks: a number that does not parse is dropped without a word
# node: service
# cause: env.values
# expect: env.values=fail@MINIO_RDMA_CONCURRENCY
# remedy: no, the right value is for the site to say

apply() {
    echo MINIO_RDMA_CONCURRENCY=many >>"$settings" && service_restart
}

heal() {
    service_heal
}
