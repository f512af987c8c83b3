#include "facts/pci_config.h"

#include <fmt/format.h>

namespace preflight {
namespace {

// Linux 6.12 include/uapi/linux/pci_regs.h.
constexpr std::size_t status_register = 0x06;
constexpr unsigned status_capabilities = 0x10;
constexpr std::size_t capability_list = 0x34;
constexpr unsigned capability_express = 0x10;
constexpr unsigned extended_acs = 0x0d;
constexpr std::size_t acs_control_offset = 6;
constexpr std::size_t header_bytes = 64, conventional_bytes = 256, express_bytes = 4096;

class Space {
public:
    explicit Space(const std::string& bytes) : bytes_(bytes) {}
    std::size_t size() const { return bytes_.size(); }
    /// Little endian; the caller stays inside size().
    unsigned number(std::size_t at, std::size_t bytes) const {
        unsigned value = 0;
        for (std::size_t i = 0; i < bytes; ++i) value |= static_cast<unsigned>(static_cast<unsigned char>(bytes_[at + i])) << (8 * i);
        return value;
    }
    Fact<bool> express() const {
        if (!(number(status_register, 2) & status_capabilities)) return false;
        std::size_t at = number(capability_list, 1) & ~3u;
        for (std::size_t hops = 0; at; ++hops) {
            if (at < header_bytes || hops > conventional_bytes / 4) return Unreadable{"malformed", "the list of capabilities is broken"};
            if (number(at, 1) == capability_express) return true;
            at = number(at + 1, 1) & ~3u;
        }
        return false;
    }

private:
    const std::string& bytes_;
};

}  // namespace

Fact<unsigned> acs_control(const Fact<PciConfig>& config) {
    if (config.absent()) return Unreadable{"not-there", "the configuration space is not offered here"};
    return config.then([](const PciConfig& all) -> Fact<unsigned> {
        const Space space(all.bytes);
        if (space.size() >= 2 && space.number(0, 2) == 0xffff) return Unreadable{"no-answer", "the function does not answer (all bits are ones)"};
        if (space.size() < conventional_bytes) return Unreadable{"short", fmt::format("only {} bytes of the configuration space could be read", space.size())};
        const auto express = space.express();
        if (!express) return express.as<unsigned>();
        if (!*express) return Absent{"not PCI Express"};
        if (space.size() < express_bytes) return Unreadable{"short", fmt::format("only {} of 4096 bytes of the configuration space could be read", space.size())};
        std::size_t at = conventional_bytes;
        for (std::size_t hops = 0; at; ++hops) {
            if (at < conventional_bytes || at + 8 > space.size() || hops > (express_bytes - conventional_bytes) / 8)
                return Unreadable{"malformed", "the list of extended capabilities is broken"};
            const unsigned header = space.number(at, 4);
            if (header == 0) break;  // none at all
            if (header == 0xffffffff) return Unreadable{"no-answer", "the extended configuration space does not answer"};
            if ((header & 0xffff) == extended_acs) return space.number(at + acs_control_offset, 2);
            at = header >> 20 & ~3u;
        }
        return Absent{};
    });
}

std::string acs_text(unsigned control) {
    constexpr const char* names[] = {"SrcValid", "TransBlk", "ReqRedir", "CmpltRedir", "UpstreamFwd", "EgressCtrl", "DirectTrans"};
    std::string text;
    for (std::size_t bit = 0; bit < std::size(names); ++bit) text += fmt::format("{}{}{}", text.empty() ? "" : " ", names[bit], control >> bit & 1 ? '+' : '-');
    return text;
}

}  // namespace preflight
