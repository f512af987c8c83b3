# breaks: /etc/hosts makes the peer's name this node itself
# node: service
# cause: peers.names
# expect: peers.names=fail@n2 peers.route=skip@node peers.port=skip@node
# gone: n2
# remedy: no, the peer's address is for the site to say

apply() {
    sed -i 's/^.* n2$/127.0.0.1 n2/' /etc/hosts
}

heal() {
    sed -i "s/^.* n2\$/$peer_address0 n2/" /etc/hosts
}
