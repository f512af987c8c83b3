#!/bin/bash
# Takes the simulated storage node down; nothing of it is left. Runs in the machine.
. tests/vm/node/lib.sh

rm -f /run/vm/node
ip link show type bond 2>/dev/null | awk -F': ' '/^[0-9]/ {print $2}' | xargs -rn1 ip link delete
rdma_down || fail "nicsim_rdma stays loaded"
nic_down || fail "nicsim stays loaded"
