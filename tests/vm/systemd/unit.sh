#!/bin/bash
# systemd as PID 1: a unit gets its environment file as systemd reads it, its memlock limit, and answers on the bus.
. tests/vm/node/lib.sh

printf 'A=1 # note\nexport B=2\nC = 3\n' >/run/unit-test.env
cat >/etc/systemd/system/unit-test.service <<'E'
[Service]
EnvironmentFile=/run/unit-test.env
LimitMEMLOCK=64M
ExecStart=/bin/sleep 100
E
systemctl daemon-reload || fail "no daemon-reload"
systemctl start unit-test || fail "no start"
pid=$(systemctl show -p MainPID --value unit-test)
environment=$(tr '\0' '\n' <"/proc/$pid/environ")
grep -qx 'A=1 # note' <<<"$environment" || fail "the trailing comment is no part of the value"
grep -q '^B=' <<<"$environment" && fail "the export line is not lost"
grep -qx 'C=3' <<<"$environment" || fail "blanks around = are not dropped"
expect "t 67108864" busctl get-property org.freedesktop.systemd1 /org/freedesktop/systemd1/unit/unit_2dtest_2eservice \
    org.freedesktop.systemd1.Service LimitMEMLOCK
grep -q 'Max locked memory *67108864 ' "/proc/$pid/limits" || fail "the process has another limit"
systemctl stop unit-test
