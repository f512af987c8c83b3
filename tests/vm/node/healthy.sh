#!/bin/bash
# Brings up a healthy simulated storage node with a two-port E810. Runs in the machine, in the source tree.
. tests/vm/node/lib.sh

"$node/reset.sh" || exit
nic_up 8086:1592:ice
dcb_up_ice "$port0"
dcb_up_ice "$port1"
rdma_up ice irdma
echo healthy >/run/vm/node
