# breaks: the RDMA package's library is gone: the server does not start again
# node: service
# cause: server.libraries
# expect: server.libraries=fail@/usr/local/bin/minio.rdma
# remedy: no, the library comes with the package

apply() {
    rm /usr/lib/minio/libs3rdma.so.0
}

heal() {
    service_heal
}
