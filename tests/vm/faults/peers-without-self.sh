# breaks: no endpoint of MINIO_VOLUMES is this node
# node: service
# cause: peers.list
# expect: peers.list=warn@node
# gone: n1
# remedy: no, the endpoints are for the site to say

apply() {
    sed -i 's|n{1\.\.\.2}|n{2...2}|' "$settings" && service_restart
}

heal() {
    service_heal
}
