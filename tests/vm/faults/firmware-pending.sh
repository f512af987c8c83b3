# breaks: new firmware is stored on the card but not activated
# cause: nic.firmware
# expect: nic.firmware=warn@enp59s0f0np0
# remedy: no, the activation needs a reset of the card

apply() {
    write "$knobs/$pci0/nic/info/stored.fw.bundle_id" 0x8001b123
}

heal() {
    cat "$knobs/$pci0/nic/info/running.fw.bundle_id" >"$knobs/$pci0/nic/info/stored.fw.bundle_id"
}
