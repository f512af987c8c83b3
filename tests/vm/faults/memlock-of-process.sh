# breaks: the limit was lifted, and the server still runs with the old one
# node: service
# cause: memlock.process
# expect: memlock.process=warn@minio.rdma~(pid~N) service.running=warn@minio.rdma~(pid~N) service.rdma=warn@minio.rdma~(pid~N)

apply() {
    sed -i '/^LimitMEMLOCK/d' "$drop_in" && service_restart && service_unit && systemctl daemon-reload
}

heal() {
    service_heal
}
