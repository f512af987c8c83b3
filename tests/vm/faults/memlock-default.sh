# breaks: the unit leaves the memlock limit at 8 MiB: the pool cannot be pinned
# node: service
# cause: memlock.limit
# expect: memlock.limit=fail@minio.service service.rdma=warn@minio.rdma~(pid~N)

apply() {
    sed -i '/^LimitMEMLOCK/d' "$drop_in" && service_restart && [[ $(<"$truth") == *memlock* ]]
}

heal() {
    service_heal
}
