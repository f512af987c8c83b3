# breaks: soft-RoCE on a NIC without RDMA carries the storage traffic
# cause: rdma.software
# expect: rdma.software=fail@rxe0 rdma.software=fail@rxe1
# gone: rocep59s0f0 rocep59s0f1
# new: rxe0 rxe1
# remedy: no, it takes another NIC

apply() {
    rdma link delete "$rdma0" && rdma link delete "$rdma1" && rmmod nicsim_rdma &&
        rdma link add rxe0 type rxe netdev "$port0" && rdma link add rxe1 type rxe netdev "$port1"
}

heal() {
    rdma link delete rxe0
    rdma link delete rxe1
    rdma_up ice irdma
}
