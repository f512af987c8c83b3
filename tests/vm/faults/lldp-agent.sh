# breaks: the firmware LLDP agent owns DCB, and has negotiated nothing
# cause: dcb.control
# expect: dcb.control=fail@enp59s0f0np0 dcb.persistence=skip@enp59s0f0np0

apply() {
    dcb app flush dev "$port0" dscp-prio && ethtool --set-priv-flags "$port0" fw-lldp-agent on
}

heal() {
    ethtool --set-priv-flags "$port0" fw-lldp-agent off && dcb_up_ice "$port0"
}
