# breaks: the file named minio.rdma is the standard build
# node: service
# cause: server.binary
# expect: server.binary=fail@/usr/local/bin/minio.rdma

apply() {
    systemctl stop minio.service && cp /usr/local/bin/minio /usr/local/bin/minio.rdma && service_restart
}

heal() {
    systemctl stop minio.service
    service_heal
}
