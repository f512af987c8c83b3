#!/bin/bash
# Brings up the healthy E810 node with AIStor on it: the stand-in server (service/server.c) under the published unit, with RDMA switched
# on, and a peer. Runs in the machine with systemd, in the source tree.
. tests/vm/node/lib.sh

service_reset
"$node/healthy.sh" || exit
service_up
echo service >/run/vm/node
