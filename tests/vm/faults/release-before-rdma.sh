# breaks: the server is of a release from before RDMA was stable
# node: service
# cause: server.version
# expect: server.version=warn@/usr/local/bin/minio.rdma

apply() {
    systemctl stop minio.service && sed -i 's/RELEASE.2026-09-01/RELEASE.2025-09-01/' /usr/local/bin/minio.rdma && service_restart
}

heal() {
    systemctl stop minio.service
    service_heal
}
