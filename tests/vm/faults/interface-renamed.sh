# breaks: an interface got another name, so the one the operator names is not there
# cause: nic.selected
# expect: nic.selected=fail@node rdma.strays=warn@node dcb.ports=skip@node nic.subnet=skip@node
# gone: enp59s0f0np0 rocep59s0f0
# remedy: no, only the operator knows which interface was meant

apply() {
    ip link set "$port0" down && ip link set "$port0" name storage0 && ip link set storage0 up &&
        ip address replace "$address0/24" dev storage0
}

heal() {
    "$node/healthy.sh"
}
