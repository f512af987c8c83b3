# breaks: {1..2} in MINIO_VOLUMES does not expand
# node: service
# cause: env.volumes
# expect: env.volumes=fail@MINIO_VOLUMES
# gone: n1 n2
# remedy: no, the endpoints are for the site to say

apply() {
    sed -i 's/{1\.\.\.2}/{1..2}/' "$settings" && service_restart
}

heal() {
    service_heal
}
