# breaks: the unit asserts a file that was removed: the next start is skipped
# node: service
# cause: service.start
# expect: service.start=fail@minio.service
# remedy: no, the file comes with the package

apply() {
    rm /usr/local/bin/minio
}

heal() {
    service_heal
}
