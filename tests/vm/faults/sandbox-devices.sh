# breaks: the unit's sandbox hides /dev/infiniband, so the server falls back to TCP
# node: service
# cause: service.sandbox
# expect: service.sandbox=fail@minio.service

apply() {
    echo PrivateDevices=yes >>"$drop_in" && service_restart && [[ $(<"$truth") == tcp:* ]]
}

heal() {
    service_heal
}
