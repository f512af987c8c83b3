# breaks: the file named minio.rdma is the standard build: its name alone is no proof
# node: service
# cause: s3.server
# expect: s3.server=fail@/usr/local/bin/minio.rdma server.binary=unknown@/usr/local/bin/minio.rdma service.rdma=warn@minio.rdma~(pid~N)
# remedy: no, the file comes with the package

apply() {
    systemctl stop minio.service && cp /usr/local/bin/minio /usr/local/bin/minio.rdma && service_restart
}

heal() {
    systemctl stop minio.service
    service_heal
}
