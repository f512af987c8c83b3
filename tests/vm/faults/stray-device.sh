# breaks: an ACTIVE RDMA device outside the storage network, which AIStor would open too
# cause: rdma.strays
# expect: rdma.strays=warn@node
# remedy: no, whether the device is needed elsewhere is for the operator to say

apply() {
    ip link add stray0 type dummy && ip link set stray0 up && ip address add 203.0.113.11/24 dev stray0 &&
        rdma link add rxe-stray type rxe netdev stray0
}

heal() {
    rdma link delete rxe-stray
    ip link delete stray0
}
