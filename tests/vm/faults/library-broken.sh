# breaks: a library full of zeros lies ahead of nothing: the loader gives up
# node: service
# cause: server.libraries
# expect: server.libraries=fail@/usr/local/bin/minio.rdma
# remedy: no, the library comes with the package

apply() {
    dd if=/dev/zero of=/usr/lib/minio/libs3rdma.so.0 bs=64k count=1 conv=notrunc
}

heal() {
    systemctl stop minio.service
    service_heal
}
