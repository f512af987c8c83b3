# breaks: another program holds TCP 5555 when the server is to start
# node: service
# cause: peers.listener
# expect: peers.listener=fail@node service.running=skip@minio.service service.rdma=skip@minio.service memlock.process=skip@minio.service
# gone: minio.rdma~(pid~N)
# remedy: no, what to do with the other program is for the site to say

apply() {
    systemctl stop minio.service
    python3 -c 'import socket, signal; s = socket.socket(); s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1); s.bind(("", 5555)); s.listen(); signal.pause()' >/dev/null 2>&1 &
    echo $! >/run/vm/foreign.pid
    wait_until 30 grep -q ':15B3 00000000:0000 0A' /proc/net/tcp
}

heal() {
    kill "$(</run/vm/foreign.pid)" 2>/dev/null
    service_heal
}
