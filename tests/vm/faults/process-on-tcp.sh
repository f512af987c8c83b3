# breaks: the server started before the RDMA devices were there, and went on with TCP
# node: service
# cause: service.rdma
# expect: service.rdma=warn@minio.rdma~(pid~N)

apply() {
    systemctl stop minio.service && rdma link delete "$rdma0" && rdma link delete "$rdma1" && service_restart
    rdma_device "$rdma0" "$port0" "$pci0" && rdma_device "$rdma1" "$port1" "$pci1" && [[ $(<"$truth") == tcp:* ]]
}

heal() {
    service_heal
}
