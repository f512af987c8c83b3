# breaks: no license is configured: the server may come up read-only, which looks like an RDMA fault
# node: service
# cause: env.license
# expect: env.license=warn@node
# remedy: no, which license is for the site to say

apply() {
    sed -i /MINIO_OPTS/d "$settings" && service_restart
}

heal() {
    service_heal
}
