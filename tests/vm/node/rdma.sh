# RDMA devices: soft-RoCE, moved below the PCI functions and presented as the driver's own by nicsim_rdma.
# shellcheck shell=bash

rdma_up() { # NETDEV DRIVER, RDMA DRIVER: ice irdma, or mlx5_core mlx5_ib
    rdma_driver_modules "$@"
    modprobe -a ib_core ib_uverbs rdma_cm rdma_ucm rdma_rxe || fail "the RDMA modules do not load"
    insmod "$VM_NICSIM/nicsim_rdma.ko" || fail "nicsim_rdma does not load"
    rdma_device "$rdma0" "$port0" "$pci0"
    rdma_device "$rdma1" "$port1" "$pci1"
}

# The modules that bear the drivers' names; modprobe must find these and never the real ones.
rdma_driver_modules() { # MODULE…
    local module
    for module; do
        echo "install $module grep -q '^$module ' /proc/modules || insmod $VM_NICSIM/$module.ko"
    done >/etc/modprobe.d/nicsim.conf
    modprobe -a "$@" || fail "$* do not load"
}

rdma_device() { # NAME PORT PCI: makes it, anew if it is there
    [[ ! -e /sys/class/infiniband/$1 ]] || rdma link delete "$1"
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

netns_mode() { # MODE: only without another network namespace; the peers come home meanwhile
    ip netns delete peer
    wait_until 5 rdma system set netns "$1" || return
    nic_peers && nic_check
}

rdma_down() {
    local device
    for device in /sys/class/infiniband/*; do
        [[ -e $device ]] && rdma link delete "${device##*/}"
    done
    rmmod nicsim_rdma irdma ice mlx5_ib mlx5_core 2>/dev/null
    rdma system set netns shared 2>/dev/null
    [[ ! -e /sys/module/nicsim_rdma ]]
}
