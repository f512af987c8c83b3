# breaks: the unit names an environment file that does not exist
# node: service
# cause: env.file
# expect: env.file=fail@/etc/default/minio-rdma service.start=fail@minio.service
# remedy: no, what stands in the file is for the site to say

apply() {
    echo EnvironmentFile=/etc/default/minio-rdma >>"$drop_in" && systemctl daemon-reload
}

heal() {
    service_heal
}
