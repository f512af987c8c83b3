#include "facts/drivers.h"

#include <algorithm>
#include <iterator>

namespace preflight {
namespace {

// Linux 6.12 drivers/infiniband/hw/*, drivers/net/ethernet/*; provider names: rdma-core providers/*.
constexpr DriverFamily families[] = {
    {"ice", "irdma", "Intel E800", true, false, "irdma"},
    {"i40e", "irdma", "Intel X722", false, false, "irdma"},
    {"idpf", "irdma", "Intel IPU", true, false, "irdma"},
    {"mlx5_core", "mlx5_ib", "NVIDIA ConnectX", true, true, "mlx5"},
    {"mlx4_core", "mlx4_ib", "Mellanox ConnectX-3", true, true, "mlx4"},
    {"bnxt_en", "bnxt_re", "Broadcom NetXtreme-E", true, false, "bnxt_re"},
    {"qede", "qedr", "Marvell FastLinQ", true, false, "qedr"},
    {"cxgb4", "iw_cxgb4", "Chelsio T5/T6", false, false, "cxgb4"},
    {"hns3", "hns_roce_hw_v2", "HiSilicon", true, false, "hns"},
    {"mana", "mana_ib", "Microsoft Azure", true, false, "mana"},
};

struct IntelIds {
    IntelFamily family;
    unsigned first, last;
};

// Linux 6.12 drivers/net/ethernet/intel/ice/ice_devids.h; X722: rdma-core providers/irdma/i40e_devids.h.
constexpr IntelIds intel_ids[] = {
    {IntelFamily::e810, 0x1591, 0x1593}, {IntelFamily::e810, 0x1599, 0x1599}, {IntelFamily::e810, 0x159a, 0x159b},
    {IntelFamily::e82x, 0x1888, 0x1888}, {IntelFamily::e82x, 0x188a, 0x188e}, {IntelFamily::e82x, 0x1890, 0x1894},
    {IntelFamily::e82x, 0x1897, 0x189a}, {IntelFamily::e82x, 0x124c, 0x124f}, {IntelFamily::e82x, 0x151d, 0x151d},
    {IntelFamily::e825, 0x579c, 0x579f}, {IntelFamily::e830, 0x12d1, 0x12d5}, {IntelFamily::e830, 0x12d8, 0x12d8},
    {IntelFamily::e830, 0x12da, 0x12da}, {IntelFamily::e830, 0x12dc, 0x12de}, {IntelFamily::vf, 0x1889, 0x1889},
    {IntelFamily::vf, 0x37cd, 0x37cd},   {IntelFamily::vf, 0x37d9, 0x37d9},   {IntelFamily::vf, 0x374d, 0x374d},
    {IntelFamily::x722, 0x37ce, 0x37d3}, {IntelFamily::x722, 0x374c, 0x374c},
};

template <class Member>
const DriverFamily* family_by(Member member, std::string_view value) {
    const auto found = std::find_if(std::begin(families), std::end(families), [&](const DriverFamily& family) { return family.*member == value; });
    return found == std::end(families) ? nullptr : &*found;
}

}  // namespace

const DriverFamily* family_of_netdev(std::string_view driver) {
    return family_by(&DriverFamily::netdev, driver);
}

const DriverFamily* family_of_rdma(std::string_view module) {
    return family_by(&DriverFamily::rdma, module);
}

IntelFamily intel_family(unsigned vendor, unsigned device) {
    if (vendor != pci_vendor_intel) return IntelFamily::none;
    for (const IntelIds& ids : intel_ids)
        if (device >= ids.first && device <= ids.last) return ids.family;
    return IntelFamily::none;
}

const DriverFamily* family_of_pci(unsigned vendor, unsigned device) {
    const IntelFamily intel = intel_family(vendor, device);
    if (intel == IntelFamily::x722) return family_of_netdev("i40e");
    if (intel != IntelFamily::none && intel != IntelFamily::vf) return family_of_netdev("ice");
    // ConnectX-4 and newer adapters and BlueField (mlx5_core's device table begins at 0x1013).
    const bool connectx = vendor == pci_vendor_mellanox && ((device >= 0x1013 && device <= 0x1027) || (device >= 0xa2d2 && device <= 0xa2df));
    return connectx ? family_of_netdev("mlx5_core") : nullptr;
}

std::string_view name(IntelFamily family) {
    switch (family) {
        case IntelFamily::e810: return "E810";
        case IntelFamily::e82x: return "E82x";
        case IntelFamily::e825: return "E825-C";
        case IntelFamily::e830: return "E830";
        case IntelFamily::vf: return "Intel VF";
        case IntelFamily::x722: return "X722";
        case IntelFamily::none: break;
    }
    return "unknown";
}

}  // namespace preflight
