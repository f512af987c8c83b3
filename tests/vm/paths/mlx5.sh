#!/bin/bash
# The ConnectX variant of the node comes up, with its own trust by DSCP entries and its own counters.
. tests/vm/node/lib.sh
have_node mlx5

ethtool -i "$port0" | grep -q 'driver: mlx5_core' || fail "not mlx5_core"
ethtool -S "$port0" | grep -q rx_prio3_pause || fail "no mlx5 counters"
