#!/bin/bash
# devlink and ethtool as ice has them: versions, the protocol switch, the private flag, pause off under PFC.
. tests/vm/node/lib.sh
have_node healthy

devlink dev info "pci/$pci0" | grep -q fw.app.name || fail "no DDP package"
devlink dev param show "pci/$pci0" name enable_roce | grep -q true || fail "not RoCE"
ethtool -i "$port0" | grep -qx 'driver: ice' || fail "not ice"
ethtool --show-priv-flags "$port0" | grep -q 'fw-lldp-agent *: off' || fail "the firmware LLDP agent runs"
ethtool -a "$port0" | grep -q 'RX:.*off' || fail "link pause is on under PFC"
ethtool -S "$port0" | grep -q rx_priority_3_xoff.nic || fail "no PFC counters"
