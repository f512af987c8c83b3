#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# selftest.sh [DIR]: run in the guest as root. Proves with dcb, ethtool, devlink, rdma, lspci and ip that the modules in
# DIR (default: this folder) obey the rules of README.md, loads and unloads them 20 times, and reads the kernel log.
set -u
dir=${1:-$(cd "$(dirname "$0")" && pwd)}
knobs=/sys/kernel/debug/nicsim
passed=0 failed=0

note() { if [ "$1" = ok ]; then passed=$((passed + 1)); else failed=$((failed + 1)); printf 'FAIL  %s\n' "$2"; fi; }
is() { # NAME EXPECTED ACTUAL
    if [ "$3" = "$2" ]; then note ok "$1"; else note bad "$1: expected '$2', got '$3'"; fi
}
has() { # NAME PATTERN TEXT
    if grep -qE -- "$2" <<< "$3"; then note ok "$1"; else note bad "$1: no '$2' in: $3"; fi
}
lacks() { # NAME PATTERN TEXT
    if grep -qE -- "$2" <<< "$3"; then note bad "$1: '$2' in: $3"; else note ok "$1"; fi
}
refused() { # NAME COMMAND...
    local name=$1; shift
    if "$@" > /dev/null 2>&1; then note bad "$name: not refused"; else note ok "$name"; fi
}
mark() { echo "nicsim selftest $$: $1" > /dev/kmsg; }
kernel_log_since() { dmesg | sed -n "/nicsim selftest $$: $1/,\$p"; }
load() { insmod "$dir/nicsim.ko" "$@" && insmod "$dir/nicsim_rdma.ko"; }
unload() { rmmod nicsim_rdma nicsim; }
app() { dcb -N app show dev "$1" dscp-prio 2> /dev/null | tr -s ' \n' ' ' | sed 's/ $//'; }
ets() { dcb -j ets show dev "$1" | grep -oE "\"$2\":(\[[^]]*\]|[a-z0-9]+)" | cut -d: -f2-; }
pfc() {
    dcb -j pfc show dev "$1" | grep -oE '"prio_pfc":\[[^]]*\]' | grep -oE 'true|false' |
        sed 's/true/1/; s/false/0/' | tr -d '\n'
}
stat() { ethtool -S "$1" | awk -v n="$2:" '$1 == n { print $2 }'; }
flag() { ethtool --show-priv-flags "$1" | awk -v n="$2" '$1 == n { print $3 }'; }

modprobe -a ib_core ib_uverbs rdma_rxe rdma_ucm
mark start

# ---------------------------------------------------------------- ice: identity
load funcs=8086:1592:ice,8086:1592:ice,15b3:101d:mlx5_core,15b3:101d:mlx5_core,8086:1888:ice,8086:1889:iavf || exit 1
for i in 0 1 2 3 4 5; do ip link set "nic$i" up; done
nic=/sys/class/net/nic0/device
is 'vendor' 0x8086 "$(cat $nic/vendor)"
is 'driver link' ice "$(basename "$(readlink $nic/driver)")"
is 'link speed' '16.0 GT/s PCIe' "$(cat $nic/current_link_speed)"
is 'link width' 16 "$(cat $nic/current_link_width)"
echo 8 > $knobs/0000:3b:00.0/link_width; echo 3 > $knobs/0000:3b:00.0/link_speed
is 'degraded width' 8 "$(cat $nic/current_link_width)"
is 'degraded speed' '8.0 GT/s PCIe' "$(cat $nic/current_link_speed)"
is 'maximum stays' '16.0 GT/s PCIe' "$(cat $nic/max_link_speed)"
echo 16 > $knobs/0000:3b:00.0/link_width; echo 4 > $knobs/0000:3b:00.0/link_speed
has 'ethtool -i' 'bus-info: 0000:3b:00.0' "$(ethtool -i nic0)"
has 'fw version: NVM, EETRACK, OROM' 'firmware-version: 4.40 0x8001c967 1.3534.0' "$(ethtool -i nic0)"
has 'permanent address' 'b4:96:91:00:3b:00' "$(ethtool -P nic0)"
is 'config space' 4096 "$(wc -c < $nic/config)"
is 'carrier' 1 "$(cat /sys/class/net/nic0/carrier)"
ip link set nic1 down
is 'carrier follows the peer' 0 "$(cat /sys/class/net/nic0/carrier)"
ip link set nic1 up
has 'speed' 'Speed: 100000Mb/s' "$(ethtool nic0)"
echo 25000 > $knobs/0000:3b:00.0/nic/speed
has 'speed knob' 'Speed: 25000Mb/s' "$(ethtool nic0)"
echo 100000 > $knobs/0000:3b:00.0/nic/speed
ip link set nic0 mtu 9702
is 'MTU 9702' 9702 "$(cat /sys/class/net/nic0/mtu)"
refused 'MTU 9703' ip link set nic0 mtu 9703
ip link set nic0 mtu 1500

# ---------------------------------------------------------------- ice: software mode
is 'DCBX software mode' 'host ieee' "$(dcb dcbx show dev nic0 | tr -s ' ' | sed 's/^ //; s/ $//')"
is 'no APP entry at first' '' "$(app nic0)"
is 'ETS willing at first' true "$(ets nic0 willing)"
refused 'APP ethertype' dcb app add dev nic0 ethtype-prio 0x8915:3
refused 'APP UDP port' dcb app add dev nic0 dgram-port-prio 4791:3
is 'refused APP entries leave nothing' '' "$(dcb app show dev nic0 2> /dev/null)"
dcb pfc set dev nic0 prio-pfc all:off 3:on 4:on
is 'PFC of two priorities' 00011000 "$(pfc nic0)"
has 'pause reads off under PFC' 'RX:[[:space:]]+off' "$(ethtool -a nic0)"
refused 'pause under PFC' ethtool -A nic0 rx on tx on
dcb pfc set dev nic0 prio-pfc all:off
ethtool -A nic0 rx on tx on
has 'pause without PFC' 'RX:[[:space:]]+on' "$(ethtool -a nic0)"
dcb pfc set dev nic0 prio-pfc all:off 3:on
has 'pause reads off again' 'TX:[[:space:]]+off' "$(ethtool -a nic0)"
refused 'no buffer command' dcb buffer show dev nic0
refused 'no maxrate command' dcb maxrate show dev nic0
dcb ets set dev nic0 prio-tc 0:0 1:1 2:0 3:1 4:0 5:0 6:0 7:0 tc-tsa all:ets tc-bw all:0 0:50 1:40 2:10
is 'bandwidth of the TCs in use must be 100' '[0,0,0,0,0,0,0,0]' "$(ets nic0 prio_tc)"
dcb ets set dev nic0 prio-tc 0:0 1:0 2:0 3:1 4:0 5:0 6:0 7:0 tc-tsa all:ets tc-bw all:0 0:50 1:50
is 'ETS two TCs' '[0,0,0,1,0,0,0,0]' "$(ets nic0 prio_tc)"
mark contiguous
dcb ets set dev nic0 prio-tc 0:0 1:0 2:0 3:3 4:0 5:0 6:0 7:0 tc-bw all:0 0:100
has 'TCs with a gap are logged' 'Non-contiguous TCs - Disabling DCB' "$(kernel_log_since 'contiguous')"
is 'TCs with a gap disable DCB' '[0,0,0,0,0,0,0,0]' "$(ets nic0 prio_tc)"

# ---------------------------------------------------------------- ice: L3 DSCP mode
mark dscp
dcb pfc set dev nic0 prio-pfc all:off 3:on
dcb app add dev nic0 dscp-prio 26:3
has 'enters DSCP mode' 'nic0: Switched QoS to L3 DSCP mode' "$(kernel_log_since 'dscp')"
is 'DSCP entry' 'dscp-prio 26:3' "$(app nic0)"
is 'prio_tc is identity' '[0,1,2,3,4,5,6,7]' "$(ets nic0 prio_tc)"
is 'ETS after entering' '[100,0,0,0,0,0,0,0]' "$(ets nic0 tc_bw)"
is 'not willing' false "$(ets nic0 willing)"
is 'PFC stays' 00010000 "$(pfc nic0)"
refused 'mapped DSCP' dcb app add dev nic0 dscp-prio 26:4
is 'mapped DSCP stays' 'dscp-prio 26:3' "$(app nic0)"
dcb ets set dev nic0 prio-tc all:0 tc-bw all:0 0:60 3:40
is 'prio_tc cannot change in DSCP mode' '[0,1,2,3,4,5,6,7]' "$(ets nic0 prio_tc)"
is 'bandwidth can' '[60,0,0,40,0,0,0,0]' "$(ets nic0 tc_bw)"
refused 'firmware agent in DSCP mode' ethtool --set-priv-flags nic0 fw-lldp-agent on
is 'agent stays off' off "$(flag nic0 fw-lldp-agent)"
dcb app add dev nic0 dscp-prio 48:6
dcb app del dev nic0 dscp-prio 26:3
is 'one entry left' 'dscp-prio 48:6' "$(app nic0)"
lacks 'still DSCP mode' 'L2 VLAN mode' "$(kernel_log_since 'dscp')"
dcb app del dev nic0 dscp-prio 48:6
has 'leaves DSCP mode' 'nic0: Switched QoS to L2 VLAN mode' "$(kernel_log_since 'dscp')"
is 'back to one TC' '[0,0,0,0,0,0,0,0]' "$(ets nic0 prio_tc)"
refused 'DSCP entry on E822' dcb app add dev nic4 dscp-prio 26:3
is 'E822 has DCB' 'host ieee' "$(dcb dcbx show dev nic4 | tr -s ' ' | sed 's/^ //; s/ $//')"

# ---------------------------------------------------------------- ice: firmware LLDP agent
ethtool --set-priv-flags nic0 fw-lldp-agent on
is 'private flags in order' \
    'link-down-on-close fw-lldp-agent vf-true-promisc-support mdd-auto-reset-vf vf-vlan-pruning legacy-rx' \
    "$(ethtool --show-priv-flags nic0 | awk 'NR > 1 { print $1 }' | tr -d : | tr '\n' ' ' | sed 's/ $//')"
is 'agent on' on "$(flag nic0 fw-lldp-agent)"
is 'DCBX firmware mode' 'lld-managed ieee' "$(dcb dcbx show dev nic0 | tr -s ' ' | sed 's/^ //; s/ $//')"
dcb pfc set dev nic0 prio-pfc all:off 3:on
is 'PFC write blocked' 00000000 "$(pfc nic0)"
refused 'APP write blocked' dcb app add dev nic0 dscp-prio 26:3
is 'no APP entry' '' "$(app nic0)"
dcb ets set dev nic0 willing off
is 'ETS write blocked' true "$(ets nic0 willing)"
refused 'DCBX write blocked' dcb dcbx set dev nic0 host ieee
echo 8 > $knobs/0000:3b:00.0/nic/fw_pfc_en
echo '3 3 4791' > $knobs/0000:3b:00.0/nic/fw_app
is 'negotiated PFC' 00010000 "$(pfc nic0)"
has 'negotiated APP' '4791:3' "$(dcb -N app show dev nic0)"
echo '-3 3 4791' > $knobs/0000:3b:00.0/nic/fw_app
echo 0 > $knobs/0000:3b:00.0/nic/fw_pfc_en
ethtool --set-priv-flags nic0 fw-lldp-agent off
is 'software mode again' 'host ieee' "$(dcb dcbx show dev nic0 | tr -s ' ' | sed 's/^ //; s/ $//')"

# ---------------------------------------------------------------- ice: counters, faults, devlink
for n in tx_priority_3_xon.nic rx_priority_7_xoff.nic link_xoff_rx.nic rx_dropped.nic rx_crc_errors.nic tx_timeout.nic \
    mac_local_faults.nic; do is "statistic $n" 0 "$(stat nic0 $n)"; done
echo 7 > $knobs/0000:3b:00.0/nic/counters/rx_priority_3_xoff.nic
echo 5 > $knobs/0000:3b:00.0/nic/counters/tx_priority_3_xoff.nic
is 'xoff counter' 7 "$(stat nic0 rx_priority_3_xoff.nic)"
has 'PFC requests' '"requests":\[0,0,0,5,' "$(dcb -j -s pfc show dev nic0)"
has 'PFC indications' '"indications":\[0,0,0,7,' "$(dcb -j -s pfc show dev nic0)"
echo 5 > $knobs/0000:3b:00.0/nic/pfc_errno
refused 'failing getpfc: attribute absent' dcb pfc show dev nic0
echo 0 > $knobs/0000:3b:00.0/nic/pfc_errno
info=$(devlink dev info pci/0000:3b:00.0)
for k in board.id fw.mgmt fw.mgmt.api fw.mgmt.build fw.undi fw.psid.api fw.bundle_id fw.app.name fw.app \
    fw.app.bundle_id fw.netlist fw.netlist.build; do has "info $k" "^ *$k " "$info"; done
is 'running = stored' 2 "$(grep -c 'fw.psid.api 4.40' <<< "$info")"
lacks 'empty key is left out' 'cgu' "$info"
echo 4.80 > $knobs/0000:3b:00.0/nic/info/stored.fw.psid.api
has 'pending update' 'fw.psid.api 4.80' "$(devlink dev info pci/0000:3b:00.0)"
echo > $knobs/0000:3b:00.0/nic/info/stored.fw.psid.api
echo 16 > $knobs/0000:3b:00.0/nic/info_errno
refused 'INFO_GET during a reset' devlink dev info pci/0000:3b:00.0
echo 0 > $knobs/0000:3b:00.0/nic/info_errno
echo 3 > $knobs/0000:3b:00.0/nic/health_error
has 'health errors' 'error 3' "$(devlink health show pci/0000:3b:00.0 reporter tx_hang)"
has 'eswitch' 'mode legacy' "$(devlink dev eswitch show pci/0000:3b:00.0)"
param() { devlink dev param "$1" pci/0000:3b:00.1 name "$2" ${3:+value "$3" cmode runtime}; }
refused 'iWARP beside RoCE' param set enable_iwarp true
is 'aux device' ice.roce.1 "$(cd /sys/bus/auxiliary/devices && ls -d ice.*.1)"
param set enable_roce false; param set enable_iwarp true
has 'iWARP selected' 'value true' "$(param show enable_iwarp)"
is 'aux device follows' ice.iwarp.1 "$(cd /sys/bus/auxiliary/devices && ls -d ice.*.1)"

# ---------------------------------------------------------------- RDMA
rdma link add iw1 type rxe netdev nic1
is 'iWARP node type' '4: RNIC' "$(cat /sys/class/infiniband/iw1/node_type)"
has 'nldev node type' 'node_type rnic' "$(rdma dev show iw1)"
has 'ibverbs transport' 'iWARP' "$(ibv_devinfo -d iw1)"
rdma link del iw1
param set enable_iwarp false; param set enable_roce true
for i in all nic0 nic1; do
    echo 1 > /proc/sys/net/ipv4/conf/$i/accept_local; echo 0 > /proc/sys/net/ipv4/conf/$i/rp_filter
done
ip addr add 10.9.0.1/24 dev nic0; ip addr add 10.9.0.2/24 dev nic1
ip link set nic0 mtu 4150; ip link set nic1 mtu 4150; ip link set nic2 mtu 4150
rdma link add irdma0 type rxe netdev nic0; rdma link add irdma1 type rxe netdev nic1
rdma link add mlx5_0 type rxe netdev nic2
is 'node type' '1: CA' "$(cat /sys/class/infiniband/irdma0/node_type)"
is 'PCI parent' 0000:3b:00.0 "$(basename "$(readlink /sys/class/infiniband/irdma0/device)")"
attr=$(ibv_devinfo -v -d irdma0)
has 'vendor' 'vendor_id:[[:space:]]+0x8086' "$attr"
has 'part' 'vendor_part_id:[[:space:]]+5522' "$attr"
has 'no SRQ' 'max_srq:[[:space:]]+0$' "$attr"
has 'lid 1' 'port_lid:[[:space:]]+1$' "$attr"
has 'irdma MTU rule' 'active_mtu:[[:space:]]+4096' "$attr"
has 'fw' 'fw 1.72 ' "$(rdma dev show irdma0)"
refused 'SRQ creation' timeout 5 ibv_srq_pingpong -d irdma0
attr=$(ibv_devinfo -v -d mlx5_0 2> /dev/null)
has 'mlx5 vendor' 'vendor_id:[[:space:]]+0x15b3' "$attr"
has 'mlx5 MTU rule' 'active_mtu:[[:space:]]+2048' "$attr"
has 'mlx5 SRQ' 'max_srq:[[:space:]]+[1-9]' "$attr"
has 'mlx5 lid' 'port_lid:[[:space:]]+0$' "$attr"
# One processor allows one channel, and then there is nothing to refuse.
[ "$(nproc)" = 1 ] || refused 'channels while RDMA is there' ethtool -L nic0 combined 1
ip link set nic0 mtu 9000; ip link set nic1 mtu 9000
rping_once() {
    rping -s -a 10.9.0.2 -C 3 > /dev/null 2>&1 & sleep 1
    timeout 30 rping -c -a 10.9.0.2 -I 10.9.0.1 -C 3 > /dev/null 2>&1
    is "rping $1" 0 $?
    wait
}
prio_of() { # TCLASS -> priorities of nic0 that counted frames
    local p before=() after
    for p in 0 1 2 3 4 5 6 7; do before[p]=$(cat $knobs/0000:3b:00.0/nic/traffic/tx_prio$p); done
    ib_write_lat -d irdma1 -x 1 -n 100 > /dev/null 2>&1 & sleep 2
    timeout 60 ib_write_lat -d irdma0 -x 1 -n 100 --tclass="$1" 10.9.0.2 > /dev/null 2>&1
    wait
    for p in 0 1 2 3 4 5 6 7; do
        after=$(cat $knobs/0000:3b:00.0/nic/traffic/tx_prio$p)
        [ $((after - before[p])) -ge 100 ] && printf %s "$p"
    done
}
rping_once 'in VLAN mode'
is 'ToS 104 without DSCP mode is priority 2' 2 "$(prio_of 104)"
dcb app add dev nic0 dscp-prio 48:6
is 'ToS 104 by the default map of DSCP mode is TC 3' 3 "$(prio_of 104)"
dcb app add dev nic0 dscp-prio 26:5
is 'ToS 104 by its entry is TC 5' 5 "$(prio_of 104)"
dcb app del dev nic0 dscp-prio 26:5
is 'a deleted DSCP 26 goes to 26 % 8' 2 "$(prio_of 104)"
rping_once 'in DSCP mode'
dcb app del dev nic0 dscp-prio 48:6
rdma link del irdma0; rdma link del irdma1; rdma link del mlx5_0
for i in 0 1; do
    ip link add nic$i.100 link nic$i type vlan id 100 egress-qos-map 2:3
    ip addr add 10.9.100.$((i + 1))/24 dev nic$i.100; ip link set nic$i.100 up
    echo 1 > /proc/sys/net/ipv4/conf/nic$i.100/accept_local; echo 0 > /proc/sys/net/ipv4/conf/nic$i.100/rp_filter
done
before=$(cat $knobs/0000:3b:00.0/nic/traffic/tx_prio3)
ip neigh add 10.9.100.3 lladdr b4:96:91:00:3b:01 dev nic0.100
socat -u OPEN:/etc/hostname UDP4-DATAGRAM:10.9.100.3:9,bind=10.9.100.1,ip-tos=104,so-bindtodevice=nic0.100
is 'VLAN egress map turns priority 2 into PCP 3' $((before + 1)) "$(cat $knobs/0000:3b:00.0/nic/traffic/tx_prio3)"
ip link del nic0.100; ip link del nic1.100
ethtool -L nic0 combined 1
has 'channels without RDMA' 'Combined:[[:space:]]+1' "$(ethtool -l nic0 | tail -1)"

# ---------------------------------------------------------------- mlx5_core, plain functions
is 'mlx5 no APP entry at first' '' "$(app nic2)"
dcb app add dev nic2 dscp-prio 26:3
dcb app add dev nic2 dscp-prio 26:4
is 'mlx5 replaces the priority of a DSCP' 'dscp-prio 26:4' "$(app nic2)"
refused 'mlx5 other selectors' dcb app add dev nic2 dgram-port-prio 4791:3
dcb app del dev nic2 dscp-prio 26:4
is 'mlx5 PCP trust again' '' "$(app nic2)"
dcb buffer set dev nic2 prio-buffer all:0 3:1 buffer-size 0:100000 1:200000
has 'mlx5 buffers' '3:1' "$(dcb buffer show dev nic2)"
dcb maxrate set dev nic2 tc-maxrate 1:25gbit
has 'mlx5 maxrate' '1:25Gbit' "$(dcb maxrate show dev nic2)"
is 'mlx5 global pause counter while pause is on' 0 "$(stat nic2 rx_global_pause)"
is 'mlx5 no per-priority pause counter without PFC' '' "$(stat nic2 rx_prio3_pause)"
dcb pfc set dev nic2 prio-pfc all:off 3:on
echo 9 > $knobs/0000:3b:00.2/nic/counters/rx_prio3_pause
is 'mlx5 per-priority pause counter with PFC' 9 "$(stat nic2 rx_prio3_pause)"
has 'mlx5 indications' '"indications":\[0,0,0,9,' "$(dcb -j -s pfc show dev nic2)"
has 'mlx5 pause beside PFC' 'RX:[[:space:]]+on' "$(ethtool -a nic2)"
for n in rx_discards_phy rx_out_of_buffer rx_prio3_discards tx_pause_storm_error_events rx_pause_ctrl_phy; do
    is "mlx5 statistic $n" 0 "$(stat nic2 $n)"
done
info=$(devlink dev info pci/0000:3b:00.2)
has 'mlx5 psid' 'fw.psid MT_0000000359' "$info"
has 'mlx5 fw.version' 'fw.version 22.39.2048' "$info"
has 'mlx5 enable_roce' 'cmode driverinit value true' "$(devlink dev param show pci/0000:3b:00.2 name enable_roce)"
refused 'a VF has no DCB' dcb pfc show dev nic5
refused 'a VF has no private flags' ethtool --show-priv-flags nic5
is 'a VF keeps its driver' iavf "$(basename "$(readlink /sys/class/net/nic5/device/driver)")"

# ---------------------------------------------------------------- safe mode
echo 1 > /sys/module/nicsim/parameters/safe_mode
rebind() { echo "$1" > /sys/bus/pci/drivers/ice/unbind; echo "$1" > /sys/bus/pci/drivers/ice/bind; }
mark safe
rebind 0000:3b:00.0
has 'safe mode is logged' 'Entering Safe Mode' "$(kernel_log_since 'safe')"
has 'no DCB in safe mode' 'Operation not supported' "$(dcb pfc show dev nic0 2>&1)"
refused 'no private flags in safe mode' ethtool --show-priv-flags nic0
has 'one channel' 'Combined:[[:space:]]+1$' "$(ethtool -l nic0 | head -6)"
info=$(devlink dev info pci/0000:3b:00.0)
lacks 'no package name' 'fw.app.name' "$info"
has 'empty package version' 'fw.app 0.0.0.0' "$info"
is 'no aux device' '' "$(cd /sys/bus/auxiliary/devices && ls -d ice.*.0 2> /dev/null)"
echo 0 > /sys/module/nicsim/parameters/safe_mode
rebind 0000:3b:00.0
has 'healthy again' 'fw.app.name ICE OS' "$(devlink dev info pci/0000:3b:00.0)"
unload

# ---------------------------------------------------------------- cards with more than four functions
mark six
load funcs=8086:1592:ice,8086:1592:ice,8086:1592:ice,8086:1592:ice,8086:1592:ice,8086:1592:ice,8086:1592:ice@3b:01.0 \
    fw_lldp=2
has 'six functions' 'RDMA functionality is not available' "$(kernel_log_since 'six')"
is 'four TCs' 4 "$(ets nic0 ets_cap)"
refused 'TC 4 is out of range' dcb app add dev nic0 dscp-prio 26:4
has 'RoCE off' 'value false' "$(devlink dev param show pci/0000:3b:00.0 name enable_roce)"
refused 'RoCE cannot be turned on' devlink dev param set pci/0000:3b:00.0 name enable_roce value true cmode runtime
is 'another card keeps RDMA' ice.roce.6 "$(cd /sys/bus/auxiliary/devices && ls -d ice.*)"
is 'agent on by parameter' on "$(flag nic1 fw-lldp-agent)"
unload

# ---------------------------------------------------------------- bridges, GPUs, ACS
load funcs=8086:1592:ice@64:00.0,8086:1592:ice@64:00.1 tree=60:00.0=root:61-64,61:00.0=up:62-64,62:00.0=down:63-63/1d,\
62:01.0=down:64-64,63:00.0=10de:2330:0302/37,70:00.0=root:71-71/-,71:00.0=10de:2330:0302
gpu=/sys/bus/pci/devices/0000:63:00.0
is 'GPU class' 0x030200 "$(cat $gpu/class)"
is 'path of the GPU' pci0000:60/0000:60:00.0/0000:61:00.0/0000:62:00.0/0000:63:00.0 "$(readlink -f $gpu | cut -d/ -f4-)"
is 'path of the NIC' pci0000:60/0000:60:00.0/0000:61:00.0/0000:62:01.0/0000:64:00.0 \
    "$(readlink -f /sys/class/net/nic0/device | cut -d/ -f4-)"
is 'size of BAR1' 0x0000001fffffffff "$(awk 'NR == 2 { print $2 }' $gpu/resource)"
is 'ACS redirect at first' 001d "$(setpci -s 62:00.0 ECAP_ACS+6.w)"
setpci -s 62:00.0 ECAP_ACS+6.w=0
is 'ACS is writable' 0000 "$(setpci -s 62:00.0 ECAP_ACS+6.w)"
refused 'a port without ACS' setpci -s 70:00.0 ECAP_ACS+6.w
setpci -s 63:00.0 CAP_EXP+8.w=2800
has 'relaxed ordering is writable' 'RlxdOrd-' "$(lspci -vvv -s 63:00.0)"
unload

# ---------------------------------------------------------------- bad parameters, unload under use, 20 times
refused 'bad funcs' insmod "$dir/nicsim.ko" funcs=nonsense
refused 'same address twice' insmod "$dir/nicsim.ko" funcs=8086:1592:ice@3b:00.0,8086:1592:ice@3b:00.0
refused 'bad tree' insmod "$dir/nicsim.ko" tree=60:00.0=side:61-62
refused 'bus in use' insmod "$dir/nicsim.ko" busnr=0
insmod "$dir/nicsim.ko"; insmod "$dir/nicsim_rdma.ko" driver_id=1
rdma link add foreign0 type rxe netdev nic0
rebind 0000:3b:00.0
is 'an unbound function takes its RDMA device along' '' "$(ls /sys/class/infiniband)"
rdma link add foreign0 type rxe netdev nic0
is 'unload under an RDMA device' 0 "$(unload > /dev/null 2>&1; echo $?)"
i=0
while [ $i -lt 20 ]; do
    load funcs=8086:1592:ice,8086:1592:ice,15b3:101d:mlx5_core,15b3:101d:mlx5_core \
        tree=60:00.0=root:61-61,61:00.0=10de:2330:0302
    ip link set nic0 up; ip link set nic1 up
    rdma link add irdma0 type rxe netdev nic0; dcb app add dev nic0 dscp-prio 26:3
    unload || break
    i=$((i + 1))
done
is 'loaded and unloaded' 20 $i
is 'nothing is left behind' '' "$(ls /sys/class/infiniband /sys/bus/auxiliary/devices $knobs 2> /dev/null | grep -v :$)"
bad=$(kernel_log_since 'start' | grep -E 'WARNING|BUG|Oops|Call Trace|general protection|refcount|leak|hung')
is 'clean kernel log' '' "$bad"
echo "nicsim selftest: $passed passed, $failed failed"
[ $failed = 0 ]
