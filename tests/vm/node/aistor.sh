# AIStor on the node: both builds, the RDMA package's library, the unit, its environment file, the account, and the peer n2.
# shellcheck shell=bash
unit=/etc/systemd/system/minio.service
drop_in=$unit.d/rdma.conf
settings=/etc/default/minio
truth=/run/standin/report # what the server really came to use: "rdma", or "tcp: why"

service_files() {
    id minio-user >/dev/null 2>&1 || useradd -r -s /usr/sbin/nologin minio-user || fail "no account"
    install -d -m 0755 /usr/lib/minio /etc/minio
    install -d -m 0777 "${truth%/*}"
    install -m 0755 "$VM_BUILD"/tests/vm/service/minio{,.rdma} /usr/local/bin/ || fail "the stand-in server is not built"
    install -m 0644 "$VM_BUILD/tests/vm/service/libs3rdma.so.0" /usr/lib/minio/
    echo license >/etc/minio/minio.license
    grep -q ' n2$' /etc/hosts || printf '%s n1\n%s n2\n' "$address0" "$peer_address0" >>/etc/hosts
}

# The unit as MinIO publishes it (minio/minio-service), and a drop-in as the AIStor documentation asks for.
service_unit() {
    mkdir -p "$unit.d"
    rm -f "$unit.d"/*
    cat >"$unit" <<'U'
[Unit]
Description=MinIO
Wants=network-online.target
After=network-online.target
AssertFileIsExecutable=/usr/local/bin/minio
AssertFileNotEmpty=/etc/default/minio

[Service]
Type=notify
WorkingDirectory=/usr/local
User=minio-user
Group=minio-user
ProtectProc=invisible
AmbientCapabilities=CAP_NET_BIND_SERVICE CAP_SYS_ADMIN CAP_DAC_OVERRIDE
EnvironmentFile=/etc/default/minio
ExecStart=/usr/local/bin/minio server $MINIO_OPTS $MINIO_VOLUMES
LimitNOFILE=1048576
TasksMax=infinity
TimeoutSec=infinity
SendSIGKILL=no

[Install]
WantedBy=multi-user.target
U
    cat >"$drop_in" <<'U'
[Service]
ExecStart=
ExecStart=/usr/local/bin/minio.rdma server $MINIO_OPTS $MINIO_VOLUMES
LimitMEMLOCK=infinity
U
}

# The pool is as small as the machine; the default of 16 GiB would not fit.
service_settings() {
    cat >"$settings" <<S
MINIO_VOLUMES="http://n{1...2}:9000/mnt/disk{1...4}"
MINIO_OPTS="--license /etc/minio/minio.license"
MINIO_ROOT_PASSWORD=not-to-be-shown
MINIO_RDMA_INTERNODE=on
MINIO_RDMA_POOL_COUNT=16
MINIO_RDMA_POOL_BUF_SIZE=1048576
STANDIN_REPORT=$truth
S
}

service_restart() {
    rm -f "$truth"
    systemctl daemon-reload || return
    systemctl reset-failed minio.service 2>/dev/null
    systemctl restart minio.service && wait_until 10 test -s "$truth"
}

# n2 answers on both ports; it is the machine's own process in another namespace.
peer_listens() { # PORT…
    ip netns exec peer python3 - "$@" >/dev/null 2>&1 <<'P' &
import socket, sys
held = []
for port in map(int, sys.argv[1:]):
    sock = socket.socket()
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sock.bind(("", port))
    sock.listen(64)
    held.append(sock)
import signal
signal.pause()
P
    echo $! >/run/vm/peer.pid
    wait_until 5 timeout 1 bash -c "</dev/tcp/$peer_address0/$1" 2>/dev/null || fail "n2 does not listen"
}

peer_silent() {
    [[ ! -f /run/vm/peer.pid ]] || kill "$(</run/vm/peer.pid)" 2>/dev/null
    rm -f /run/vm/peer.pid
}

service_up() {
    service_files && service_unit && service_settings
    peer_listens 5555 9000
    service_restart || fail "the server does not start: $(journalctl -u minio 2>/dev/null | tail -3; systemctl status minio 2>&1 | tail -3)"
    [[ $(<"$truth") == rdma ]] || fail "the server does not use RDMA: $(<"$truth")"
}

service_reset() {
    systemctl stop minio.service 2>/dev/null
    peer_silent
    rm -rf "$unit" "$unit.d" "$settings" /usr/local/bin/minio /usr/local/bin/minio.rdma /usr/lib/minio "${truth%/*}"
}

# What faults undo with: everything as service_up left it.
service_heal() {
    service_files && service_unit && service_settings && service_restart
}
