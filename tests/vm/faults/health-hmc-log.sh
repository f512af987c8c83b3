# breaks: the driver logged an HMC error in this boot
# cause: nic.health
# expect: nic.health=warn@enp59s0f0np0
# heal: reboot, the kernel log keeps what it has
# remedy: no, the error is history

apply() {
    echo "<3>ice $pci0: HMC Error, HMC_ERRORINFO 0x80000000 HMC_ERRORDATA 0x0" >/dev/kmsg
}

heal() {
    :
}
