// Every netlink decoder; the first byte chooses it.
#include "fuzz.h"
#include "host/decode.h"

using namespace preflight;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const decode::Bytes payload(data + 1, size - 1);
    switch (data[0] % 18) {
        case 0: decode::link(payload); break;
        case 1: decode::address(payload); break;
        case 2: decode::route(payload); break;
        case 3: decode::mac(payload); break;
        case 4: decode::dcb(payload); break;
        case 5: decode::ethtool_pause(payload); break;
        case 6: decode::ethtool_channels(payload); break;
        case 7: decode::ethtool_speed(payload); break;
        case 8: decode::ethtool_private_flags(payload); break;
        case 9: decode::ethtool_statistics(payload.first(payload.size() / 2), payload.subspan(payload.size() / 2)); break;
        case 10: decode::devlink_handle(payload); break;
        case 11: decode::devlink_info(payload); break;
        case 12: decode::devlink_parameter(payload); break;
        case 13: decode::devlink_health(payload); break;
        case 14: decode::rdma_device(payload); break;
        case 15: decode::rdma_port(payload); break;
        case 16:
            for (const char* kind : {"qp", "cm_id", "mr", "cq", "pd", "ctx", "srq"}) decode::rdma_resources(kind, payload);
            break;
        case 17:
            decode::rdma_chardev(payload);
            decode::rdma_netns_mode(payload);
            decode::socket_address(payload);
            break;
    }
    return 0;
}
