# breaks: the pool is larger than the machine's memory
# node: service
# cause: memlock.memory
# expect: memlock.memory=fail@node service.rdma=warn@minio.rdma~(pid~N)
# remedy: no, how much to pin is for the site to say

apply() {
    sed -i 's/POOL_COUNT=16/POOL_COUNT=100000/' "$settings" && service_restart
}

heal() {
    service_heal
}
