# breaks: a storage port lost its address; only the link-local IPv6 address is left
# cause: nic.address
# expect: nic.address=fail@enp59s0f0np0 rdma.gid=blocked@rocep59s0f0/1
# remedy: no, the address is for the site to say

apply() {
    ip address delete "$address0/24" dev "$port0"
}

heal() {
    ip address replace "$address0/24" dev "$port0"
}
