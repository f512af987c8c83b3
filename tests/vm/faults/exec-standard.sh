# breaks: the unit starts the standard build, which ignores every RDMA setting
# node: service
# cause: service.exec
# expect: service.exec=fail@minio.service server.binary=fail@/usr/local/bin/minio service.rdma=warn@minio~(pid~N) s3.server=blocked@/usr/local/bin/minio
# new: /usr/local/bin/minio minio~(pid~N)
# gone: /usr/local/bin/minio.rdma minio.rdma~(pid~N)

apply() {
    sed -i '/^ExecStart=/d' "$drop_in" && service_restart && [[ $(<"$truth") == "tcp: the standard build" ]]
}

heal() {
    service_heal
}
