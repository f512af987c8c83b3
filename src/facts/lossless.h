#pragma once
// Whether RoCE frames of AIStor travel in a lossless class, link by link: traffic class -> DSCP -> priority -> TC -> PFC ->
// bandwidth. Pure functions of what the kernel answered for one physical port; a link that cannot be seen is `unseen`,
// never closed.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "facts/dcb_rules.h"
#include "preflight/host.h"

namespace preflight {

class Facts;

/// A netdev over a physical port that carries storage addresses: the port itself, its bond, or a VLAN over either.
struct Upper {
    std::string netdev;
    /// skb priority -> PCP of a VLAN; a priority that is not listed gets PCP 0. nullopt: frames leave without a VLAN id.
    std::optional<std::map<unsigned, unsigned>> egress;
};

/// A physical port with its answers. The bond or VLAN over it has no DCB of its own (EOPNOTSUPP).
struct LosslessPort {
    std::string netdev;
    std::string key;     ///< PCI address, or the netdev's name without one
    std::string driver;  ///< kernel driver of the PCI function; empty when unknown
    unsigned vendor = 0, device = 0;
    bool infiniband = false;
    std::string bond;           ///< the bond it is a member of; empty
    std::string rdma_device;    ///< "rocep59s0f0"; empty without one
    std::string rdma_driver;    ///< kernel module: "irdma", "mlx5_ib", "rdma_rxe"; empty when unknown
    int rdma_port = 1;
    std::vector<Upper> uppers;  ///< never empty once read
    Fact<Dcb> dcb;
    Fact<EthtoolPause> pause;
    Fact<std::map<std::string, bool>> flags;
    /// "roce_np" and "roce_rp" -> priority -> text of /sys/class/net/X/ecn/*/enable/PRIORITY: there with the vendor's mlx5 only.
    std::map<std::string, std::map<unsigned, Fact<std::string>>> ecn;
    /// ToS that rdma_cm gives to connections which set none. Absent: no configfs folder for the device, and looking would need
    /// one to be made; the value may be set all the same.
    Fact<std::string> cm_tos;

    const DcbRules& rules() const { return dcb_rules(driver, vendor, device); }
};

/// What one of the two traffic-class settings of AIStor says.
struct ClassSetting {
    enum Kind {
        automatic,  ///< unset, empty, 0, or a text that is no number of 0 to 255: such a value is dropped silently
        value,
        unreadable,
    };
    Kind kind = automatic;
    unsigned number = 0;  ///< of `value`
    std::string text;     ///< as set; empty when unset
    std::string why;      ///< of `unreadable`
};
/// "not asked" counts as unset.
ClassSetting class_setting(const Fact<std::string>& setting);

enum class LinkState { closed, ambiguous, unseen, broken };

enum class Mode { dscp, pcp, unseen };
std::string_view name(Mode mode);

/// How the port classifies RoCE frames that leave by `upper`.
Mode mode(const LosslessPort& port, const Upper& upper);

/// Who decides over DCB.
enum class Owner { host, agent, unseen };
Owner owner(const LosslessPort& port);

/// The priorities with PFC on; on ice in L3 DSCP mode these are TCs.
std::vector<unsigned> lossless(const DcbPfc& pfc);

struct DscpEntry {
    unsigned dscp = 0, priority = 0;
    auto operator<=>(const DscpEntry&) const = default;
};
/// APP entries with selector DSCP, sorted.
std::vector<DscpEntry> dscp_entries(const Dcb& dcb);

/// What AIStor's automatic detection finds in the IEEE tables: DSCP entries whose priority has PFC on. Which of several
/// it takes is not public.
struct Detection {
    LinkState state = LinkState::unseen;  ///< closed: found; broken: nothing to find; unseen: the tables cannot be seen
    std::vector<DscpEntry> entries;
    std::string why;                      ///< of broken and unseen
};
Detection detect(const LosslessPort& port);

struct ChainLink {
    std::string what;    ///< "traffic class", "DSCP", "priority", "TC", "PFC"
    std::string value;   ///< "3", "on"
    std::string source;  ///< where it was read, or the rule it follows from
    LinkState state = LinkState::closed;
    std::string note;    ///< of a link that is not closed: why, in a sentence part
};

/// The way of one ToS byte through one port.
struct Chain {
    unsigned tos = 0;
    std::string reading;  ///< how the ToS byte came about
    std::string upper;
    std::vector<ChainLink> links;
    std::optional<unsigned> priority, tc;

    LinkState state() const;             ///< the worst of the links
    const ChainLink* first_bad() const;  ///< the first link that is not closed, or nullptr
    /// "ToS 104 -> DSCP 26 -> priority 2 -> TC 0 -> PFC off"
    std::string text() const;
};
Chain trace(const LosslessPort& port, const Upper& upper, unsigned tos, std::string reading);

/// All ways that AIStor's traffic may take through a port: each reading of the setting over each upper netdev.
struct Chains {
    std::vector<Chain> list;  ///< empty when the detection found nothing
    LinkState state = LinkState::unseen;
    std::string why;  ///< where the list is empty
};
/// closed: every reading closes over every upper netdev. broken: none does. ambiguous: it depends on how AIStor reads its
/// setting, on the netdev that its addresses are on, or on what the driver does not show.
Chains chains(const LosslessPort& port, const ClassSetting& setting);

/// The share of bandwidth of a TC.
struct Bandwidth {
    LinkState state = LinkState::unseen;
    std::string text;  ///< "50 %", "strict", "0 %"
    std::string note;
};
Bandwidth bandwidth(const LosslessPort& port, unsigned tc);

/// The storage ports and what AIStor's two traffic-class settings say.
struct Lossless {
    std::vector<LosslessPort> ports;  ///< by netdev
    ClassSetting internode;           ///< MINIO_RDMA_INTERNODE_TRAFFIC_CLASS
    ClassSetting s3;                  ///< MINIO_RDMA_TRAFFIC_CLASS: another setting, of the S3 path

    static Lossless read(const Facts& facts);
};

}  // namespace preflight
