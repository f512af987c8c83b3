# breaks: the server's own file switches RDMA off again
# node: service
# cause: env.location
# expect: env.location=fail@/etc/minio/config.env:1 env.internode=fail@MINIO_RDMA_INTERNODE
# gone: node
# remedy: no, which of both files is right is for the site to say

apply() {
    echo MINIO_CONFIG_ENV_FILE=/etc/minio/config.env >>"$settings"
    echo MINIO_RDMA_INTERNODE=off >/etc/minio/config.env && chmod 0644 /etc/minio/config.env && service_restart
}

heal() {
    rm -f /etc/minio/config.env
    service_heal
}
