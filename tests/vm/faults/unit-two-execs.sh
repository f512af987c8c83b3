# breaks: a drop-in adds a second ExecStart= without clearing the first: systemd refuses the unit at its next start
# node: service
# cause: service.unit
# expect: service.unit=fail@minio.service server.binary=fail@/usr/local/bin/minio s3.server=blocked@/usr/local/bin/minio service.running=warn@minio.rdma~(pid~N)
# new: /usr/local/bin/minio
# gone: /usr/local/bin/minio.rdma

apply() {
    sed -i '/^ExecStart=$/d' "$drop_in" && systemctl daemon-reload
}

heal() {
    service_heal
}
