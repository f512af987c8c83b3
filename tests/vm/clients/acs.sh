#!/bin/bash
# A GPU and a NIC below one simulated switch: ACS is read from real configuration space, and the report's own commands clear it.
# usage, in the machine: acs.sh PROGRAM
. tests/vm/node/lib.sh
program=$1 nic=0000:64:00.0
from=() # what is judged: this machine, or a snapshot

judge() { # EXPRESSION OF PYTHON on the findings f, by their id; further arguments are a command that runs the program
    local filter=$1
    shift
    "$@" "$program" run --format json "${from[@]}" --role client --only 'pcie.*,gpu.present,gpu.topology' >/run/vm/report
    python3 -c "import json; f = {x['id']: x for x in json.load(open('/run/vm/report'))['findings']}; print($filter)"
}

"$node/reset.sh" || exit
# The firmware tables of the machine say QEMU, and a virtual machine's bridges prove nothing.
echo Example >/run/vm/vendor
for file in sys_vendor product_name; do
    mount --bind /run/vm/vendor "/sys/class/dmi/id/$file" || fail "$file stays what it is"
done
trap 'umount /sys/class/dmi/id/sys_vendor /sys/class/dmi/id/product_name; "$node/reset.sh"' EXIT

insmod "$VM_NICSIM/nicsim.ko" "funcs=15b3:101d:mlx5_core@64:00.0,8086:1521:igb@5e:00.0" \
    tree=60:00.0=root:61-64/1d,61:00.0=up:62-64,62:00.0=down:63-63/1d,62:01.0=down:64-64,63:00.0=10de:2330:0302/37 || fail "nicsim does not load"
nic_port "$nic" "$port0" "$address0"
rdma_driver_modules mlx5_core mlx5_ib
modprobe -a ib_core ib_uverbs rdma_cm rdma_ucm rdma_rxe
insmod "$VM_NICSIM/nicsim_rdma.ko" || fail "nicsim_rdma does not load"
nic_rename "$peer_pci0" "$peer0"
ip link set "$peer0" up
rdma link add "$rdma0" type rxe netdev "$port0" || fail "no RDMA device on $port0"

expect "PIX" judge "[w for w in ('PIX', 'PXB', 'PHB') if w in f['gpu.topology']['observed']][0]"
expect "pass" judge "f['pcie.iommu']['status']"
expect "True" judge "f['pcie.acs']['status'] == 'fail' and '0000:62:00.0' in f['pcie.acs']['observed'] and '0000:60:00.0' not in f['pcie.acs']['observed']"
# A snapshot of it is judged alike.
"$program" capture - >/run/vm/snapshot || fail "no snapshot"
from=(--snapshot /run/vm/snapshot)
expect "fail" judge "f['pcie.acs']['status']"
from=()
# An ordinary user gets 64 bytes of it.
expect "unknown True" judge "f['pcie.acs']['status'], 'only 64 bytes' in f['pcie.acs']['observed'], sep=' '" setpriv --reuid 65534 --regid 65534 --clear-groups

judge "'\n'.join(f['pcie.acs']['remedy']['commands'])" >/run/vm/commands
sed 's/^sudo //' /run/vm/commands | bash -e || fail "the remedy's commands do not run"
expect "0011" setpci -s 62:00.0 ECAP_ACS+6.w
expect "pass" judge "f['pcie.acs']['status']"

# The bits come back, as at a boot; a link that trained narrow shows as well.
setpci -s 62:00.0 ECAP_ACS+6.w=4:4
expect "fail" judge "f['pcie.acs']['status']"
echo 8 >"$knobs/$nic/link_width"
expect "warn" judge "f['pcie.link']['status']"
