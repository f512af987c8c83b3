#!/bin/bash
# pod-view.sh PROGRAM: the simulated storage node with an AIStor pod on it, judged on the node and from a pod (tests/kubernetes/pod). The pod
# must come to the same findings; only rdma.provider is judged by other means there.
set -eu
program=$(realpath "$1")
tests/vm/node/healthy.sh > /dev/null
work=/run/pod-view
rm -rf $work
mkdir -p $work/bin

# AIStor's pod: a process named minio in a container's control group and mount namespace.
cp "$(readlink -f /bin/sleep)" $work/bin/minio
mountpoint -q /sys/fs/cgroup || mount -t cgroup2 cgroup2 /sys/fs/cgroup
group=/sys/fs/cgroup/kubepods.slice/kubepods-pod1234.slice/cri-containerd-0123456789abcdef.scope
mkdir -p $group
sh -c "echo \$\$ > $group/cgroup.procs; exec env -i MINIO_RDMA_INTERNODE=on MINIO_VOLUMES='http://n{1...2}:9000/mnt/disk{1...4}' \
    /usr/bin/unshare -m $work/bin/minio 1000" > /dev/null 2>&1 &
server=$!
trap 'kill $server' EXIT
until [ "$(cat /proc/$server/comm)" = minio ]; do sleep 0.1; done

"$program" run --format json --no-peers > $work/node.json || [ $? -le 2 ]
tests/kubernetes/pod "$program" --format json --no-peers > $work/pod.json || [ $? -le 2 ]
python3 - $work/node.json $work/pod.json << 'CHECK'
import json, sys
reports = [json.load(open(path)) for path in sys.argv[1:]]
on_node, in_pod = ({(f["id"], f["subject"]): f for f in report["findings"]} for report in reports)
assert reports[1]["run"]["deployment"] == "container" and reports[1]["run"]["options"]["root"] == "/host"
assert on_node.keys() == in_pod.keys(), on_node.keys() ^ in_pod.keys()
assert sum(f["status"] == "pass" for f in in_pod.values()) > 30
for key, finding in in_pod.items():
    other = on_node[key]
    assert finding["status"] == other["status"], (finding, other)
    if key[0] != "rdma.provider":
        assert finding["observed"] == other["observed"], (finding, other)
    else:
        assert "below /host" in finding["source"], finding
assert in_pod[next(key for key in in_pod if key[0] == "container.devices")]["status"] == "pass"
print(f"{len(in_pod)} findings alike, on the node and in the pod")
CHECK
