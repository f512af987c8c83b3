#!/bin/bash
# DCB as ice has it: L3 DSCP mode by the first entry, other selectors refused, a refused write is seen by reading back.
. tests/vm/node/lib.sh
have_node healthy

dcb_check "$port0"
dcb app add dev "$port0" ethtype-prio 0x8906:3 2>/dev/null
expect "" dcb app show dev "$port0" ethtype-prio
dcb -j dcbx show dev "$port0" | grep -q '"ieee":true' || fail "no IEEE mode"
[[ $(dcb pfc show dev lo 2>&1) == *"not supported"* ]] || fail "a netdev without DCB does not say so"
