# breaks: the unit's sandbox hides /dev/infiniband, so the server falls back to TCP
# node: service
# cause: service.sandbox
# expect: service.sandbox=fail@minio.service~PrivateDevices= service.sandbox=fail@minio.service~DevicePolicy= service.rdma=warn@minio.rdma~(pid~N)
# gone: minio.service

apply() {
    echo PrivateDevices=yes >>"$drop_in" && service_restart && [[ $(<"$truth") == tcp:* ]]
}

heal() {
    service_heal
}
