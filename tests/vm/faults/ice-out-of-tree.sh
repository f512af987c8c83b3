# breaks: ice came from the vendor, irdma with the kernel; they need not fit together
# cause: nic.driver
# expect: nic.driver=warn@enp59s0f0np0 nic.driver=warn@enp59s0f1np1
# remedy: no, it installs a driver package

apply() {
    echo OE >/run/vm/taint && mount --bind /run/vm/taint /sys/module/ice/taint
}

heal() {
    umount /sys/module/ice/taint
}
