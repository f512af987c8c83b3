# breaks: a route sends the peer's traffic out of a port without RDMA
# node: service
# cause: peers.route
# expect: peers.route=fail@n2
# remedy: no, which route is wrong is for the site to say

apply() {
    ip link add mgmt0 type dummy && ip address add 203.0.113.1/24 dev mgmt0 && ip link set mgmt0 up && ip route add "$peer_address0/32" dev mgmt0
}

heal() {
    ip link delete mgmt0
}
