# breaks: the NIC trained at 8 lanes of 16
# cause: pcie.link
# expect: pcie.link=warn@enp59s0f0np0

apply() {
    write "$knobs/$pci0/link_width" 8
}

heal() {
    write "$knobs/$pci0/link_width" 16
}
