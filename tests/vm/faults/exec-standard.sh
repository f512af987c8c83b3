# breaks: the unit starts the standard build, which ignores every RDMA setting
# node: service
# cause: service.exec
# expect: service.exec=fail@minio.service

apply() {
    sed -i '/^ExecStart=/d' "$drop_in" && service_restart && [[ $(<"$truth") == "tcp: the standard build" ]]
}

heal() {
    service_heal
}
