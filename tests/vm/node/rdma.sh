# RDMA devices: soft-RoCE, moved below the PCI functions and presented as the driver's own by nicsim_rdma.
# shellcheck shell=bash

rdma_up() { # DRIVER: irdma or mlx5_ib
    modprobe -a ib_core ib_uverbs rdma_cm rdma_ucm rdma_rxe || fail "the RDMA modules do not load"
    insmod "$VM_NICSIM/nicsim_rdma.ko" || fail "nicsim_rdma does not load"
    insmod "$VM_NICSIM/$1.ko" || fail "the stand-in for $1 does not load"
    rdma_device "$rdma0" "$port0" "$pci0"
    rdma_device "$rdma1" "$port1" "$pci1"
}

rdma_device() { # NAME PORT PCI
    rdma link add "$1" type rxe netdev "$2" || fail "no RDMA device on $2"
    expect "../../../$3" readlink "/sys/class/infiniband/$1/device"
    rdma_active "$1"
}

rdma_active() { # NAME…
    local device
    for device in "$@"; do
        wait_until 5 holds "/sys/class/infiniband/$device/ports/1/state" "4: ACTIVE" || fail "$device is not active"
    done
}

rdma_down() {
    local device
    for device in /sys/class/infiniband/*; do
        [[ -e $device ]] && rdma link delete "${device##*/}"
    done
    rmmod nicsim_rdma irdma mlx5_ib 2>/dev/null
    rdma system set netns shared 2>/dev/null
    [[ ! -e /sys/module/nicsim_rdma ]]
}
