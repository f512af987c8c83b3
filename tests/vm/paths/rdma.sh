#!/bin/bash
# RDMA for real: a connection over rdma_cm moves data, and nldev names the owner of a queue pair by its process.
. tests/vm/node/lib.sh
have_node healthy

owns_queue_pair() {
    [[ $(rdma resource show qp link "$rdma0/1") == *"pid $1"* ]]
}

rping -s -a "$address0" -C 3 >/dev/null &
sleep 1
timeout 60 rping -c -a "$address0" -I "$address0" -C 3 -v | grep -q 'ping data' || fail "rping moves nothing"
wait

ibv_rc_pingpong -d "$rdma0" -g 1 >/dev/null &
server=$!
wait_until 5 owns_queue_pair "$server" || fail "no queue pair of process $server"
kill "$server"
