# breaks: the card shows more than four PCI functions, so the driver offers no RDMA; loaded anew, it has no DCB settings either
# cause: nic.functions
# expect: nic.functions=fail@0000:3b:00 rdma.device=blocked@enp59s0f0np0 rdma.device=blocked@enp59s0f1np1 dcb.pfc=fail@enp59s0f0np0 dcb.pfc=fail@enp59s0f1np1 dcb.mode=blocked@enp59s0f0np0 dcb.mode=blocked@enp59s0f1np1 dcb.class=blocked@enp59s0f0np0 dcb.class=blocked@enp59s0f1np1 dcb.chain=blocked@enp59s0f0np0 dcb.chain=blocked@enp59s0f1np1 dcb.ets=blocked@enp59s0f0np0 dcb.ets=blocked@enp59s0f1np1 dcb.persistence=skip@enp59s0f0np0 dcb.persistence=skip@enp59s0f1np1
# gone: rocep59s0f0 rocep59s0f1
# remedy: no, the port option is set in the card's firmware

apply() {
    "$node/reset.sh" && nic_up 8086:1592:ice ,8086:1592:ice@3b:00.{2,3,4,5} &&
        modprobe -a ib_core ib_uverbs rdma_ucm rdma_rxe && rdma_driver_modules ice irdma
}

heal() {
    "$node/healthy.sh"
}
