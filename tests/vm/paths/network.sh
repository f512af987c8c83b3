#!/bin/bash
# What peers' questions meet: VLANs with their own GIDs, and a firewall that drops, refuses or prohibits.
. tests/vm/node/lib.sh
have_node healthy

connect() { # prints what a TCP connection to the peer's port 5555 says
    LC_ALL=C timeout 3 bash -c "exec 3<>/dev/tcp/$peer_address0/5555" 2>&1 | sed -n 's/.*5555: //p'
}

ip link add link "$port0" name storage.100 type vlan id 100
ip address add 203.0.113.11/24 dev storage.100
ip link set storage.100 up
wait_until 5 grep -qsx storage.100 "/sys/class/infiniband/$rdma0/ports/1/gid_attrs/ndevs/"* ||
    fail "the VLAN has no GID"
ip link delete storage.100

expect "Connection refused" connect
ip netns exec peer nft -f - <<'E'
table inet filter {
    chain input {
        type filter hook input priority 0
        tcp dport 5555 reject with icmpx admin-prohibited
    }
}
E
expect "No route to host" connect
ip netns exec peer nft flush ruleset
