#!/bin/bash
# Brings up a healthy simulated storage node with a two-port ConnectX-6 Dx. Runs in the machine, in the source tree.
. tests/vm/node/lib.sh

"$node/reset.sh" || exit
nic_up 15b3:101d:mlx5_core
dcb_up_mlx5 "$port0"
dcb_up_mlx5 "$port1"
rdma_up mlx5_core mlx5_ib
echo mlx5 >/run/vm/node
