# breaks: both storage ports have an address in one subnet
# cause: nic.subnet
# expect: nic.subnet=warn@node
# remedy: no, rules of source routing are the operator's own

apply() {
    ip address add 192.0.2.21/24 dev "$port1"
}

heal() {
    ip address del 192.0.2.21/24 dev "$port1"
}
