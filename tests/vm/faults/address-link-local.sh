# breaks: a storage port has nothing but an address that it gave itself (169.254.0.0/16), as after a failed DHCP
# cause: nic.address
# expect: nic.address=fail@enp59s0f0np0 rdma.gid=blocked@rocep59s0f0/1
# remedy: no, the address is for the site to say

apply() {
    ip address delete "$address0/24" dev "$port0" && ip address add 169.254.7.7/16 dev "$port0"
}

heal() {
    ip address flush dev "$port0" scope link to 169.254.0.0/16
    ip address delete 169.254.7.7/16 dev "$port0" 2>/dev/null
    ip address replace "$address0/24" dev "$port0"
}
