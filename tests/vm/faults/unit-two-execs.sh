# breaks: a drop-in adds a second ExecStart= without clearing the first: systemd refuses the unit at its next start
# node: service
# cause: service.unit
# expect: service.unit=fail@minio.service

apply() {
    sed -i '/^ExecStart=$/d' "$drop_in" && systemctl daemon-reload
}

heal() {
    service_heal
}
