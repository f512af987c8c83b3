# breaks: a setting changed after the server started
# node: service
# cause: service.running
# expect: service.running=warn@minio.rdma~(pid~N)

apply() {
    sed -i 's/POOL_COUNT=16/POOL_COUNT=12/' "$settings"
}

heal() {
    service_heal
}
