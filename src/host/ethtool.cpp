// What a netdev's driver says through ethtool: the generic netlink family where the kernel has it for the question, else the
// ioctl that every kernel has. Driver identity and the free-form statistics exist as ioctls only.

#include <linux/ethtool.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <netlink/genl/genl.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "host/decode.h"
#include "host/live.h"
#include "host/netlink.h"

namespace preflight {
namespace {

using netlink::Attribute;
using netlink::Reader;
using Flags = std::map<std::string, bool>;
using Counters = std::map<std::string, std::uint64_t>;

constexpr std::size_t most_strings = 1u << 20;  // more names than any driver has; a larger count is not believed

std::string fixed_text(const void* data, std::size_t size) {
    return Attribute{0, static_cast<const std::uint8_t*>(data), size}.text();
}

/// ethtool(8) prints these as "Unknown!": the field is 16 bits wide in old drivers (SPEED_UNKNOWN is all ones).
std::optional<unsigned> known_speed(std::uint32_t mbits) {
    if (mbits == 0 || mbits == 0xffff || mbits == 0xffffffff) return std::nullopt;
    return mbits;
}

Reader reader(decode::Bytes payload) {
    return {payload, GENL_HDRLEN, "ethtool"};
}

}  // namespace

namespace decode {

Fact<EthtoolPause> ethtool_pause(Bytes payload) {
    Reader at = reader(payload);
    EthtoolPause pause;
    pause.autoneg = at.required<std::uint8_t>(ETHTOOL_A_PAUSE_AUTONEG, "ETHTOOL_A_PAUSE_AUTONEG") != 0;
    pause.rx = at.required<std::uint8_t>(ETHTOOL_A_PAUSE_RX, "ETHTOOL_A_PAUSE_RX") != 0;
    pause.tx = at.required<std::uint8_t>(ETHTOOL_A_PAUSE_TX, "ETHTOOL_A_PAUSE_TX") != 0;
    if (at.broken()) return at.malformed();
    return pause;
}

Fact<EthtoolChannels> ethtool_channels(Bytes payload) {
    Reader at = reader(payload);
    // The kernel leaves out a kind of channel whose maximum is 0 (net/ethtool/channels.c).
    const auto count = [&](int type, const char* name) { return at.number<std::uint32_t>(type, name).value_or(0); };
    EthtoolChannels channels;
    channels.max_rx = count(ETHTOOL_A_CHANNELS_RX_MAX, "ETHTOOL_A_CHANNELS_RX_MAX");
    channels.max_tx = count(ETHTOOL_A_CHANNELS_TX_MAX, "ETHTOOL_A_CHANNELS_TX_MAX");
    channels.max_combined = count(ETHTOOL_A_CHANNELS_COMBINED_MAX, "ETHTOOL_A_CHANNELS_COMBINED_MAX");
    channels.rx = count(ETHTOOL_A_CHANNELS_RX_COUNT, "ETHTOOL_A_CHANNELS_RX_COUNT");
    channels.tx = count(ETHTOOL_A_CHANNELS_TX_COUNT, "ETHTOOL_A_CHANNELS_TX_COUNT");
    channels.combined = count(ETHTOOL_A_CHANNELS_COMBINED_COUNT, "ETHTOOL_A_CHANNELS_COMBINED_COUNT");
    if (at.broken()) return at.malformed();
    return channels;
}

Fact<EthtoolSpeed> ethtool_speed(Bytes payload) {
    Reader at = reader(payload);
    const auto mbits = at.number<std::uint32_t>(ETHTOOL_A_LINKMODES_SPEED, "ETHTOOL_A_LINKMODES_SPEED");
    if (at.broken()) return at.malformed();
    return EthtoolSpeed{known_speed(mbits.value_or(0))};
}

Fact<Flags> ethtool_private_flags(Bytes payload) {
    Reader at = reader(payload);
    Reader set = at.nest(ETHTOOL_A_PRIVFLAGS_FLAGS, "ETHTOOL_A_PRIVFLAGS_FLAGS");
    if (!set.has(ETHTOOL_A_BITSET_BITS) && set.number<std::uint32_t>(ETHTOOL_A_BITSET_SIZE, "ETHTOOL_A_BITSET_SIZE") != 0)
        at.mark("ETHTOOL_A_BITSET_BITS");
    const Reader bits = set.nest(ETHTOOL_A_BITSET_BITS, "ETHTOOL_A_BITSET_BITS");
    Flags flags;
    for (const Attribute& entry : bits.all()) {
        if (entry.type != ETHTOOL_A_BITSET_BITS_BIT) continue;
        Reader bit = at.nest(entry, "ETHTOOL_A_BITSET_BITS_BIT");
        const auto name = bit.required_text(ETHTOOL_A_BITSET_BIT_NAME, "ETHTOOL_A_BITSET_BIT_NAME");
        flags.emplace(name, bit.has(ETHTOOL_A_BITSET_BIT_VALUE));
    }
    if (at.broken()) return at.malformed();
    return flags;
}

Counters ethtool_statistics(Bytes names, Bytes values) {
    Counters counters;
    const std::size_t count = std::min(names.size() / ETH_GSTRING_LEN, values.size() / sizeof(std::uint64_t));
    for (std::size_t i = 0; i < count; ++i) {
        std::uint64_t value = 0;
        std::memcpy(&value, &values[i * sizeof value], sizeof value);
        const auto name = fixed_text(&names[i * ETH_GSTRING_LEN], ETH_GSTRING_LEN);
        if (!name.empty()) counters.emplace(name, value);
    }
    return counters;
}

}  // namespace decode

namespace live {
namespace {

bool possible_name(const std::string& netdev) {
    return !netdev.empty() && netdev.size() < IFNAMSIZ;
}

/// SIOCETHTOOL on one netdev. The name is looked up over rtnetlink first: the ioctl would load a module for an unknown one.
class Ioctl {
public:
    explicit Ioctl(const std::string& netdev) : netdev_(netdev) {
        nl_msg* request = netlink::request(RTM_GETLINK, 0, ifinfomsg{});
        if (request) {
            nla_put_string(request, IFLA_IFNAME, netdev.c_str());
            nla_put_u32(request, IFLA_EXT_MASK, RTEXT_FILTER_SKIP_STATS);
        }
        netlink::Socket lookup(NETLINK_ROUTE);
        error_ = lookup.ask(request, [](nlmsghdr*) {});
        if (error_) return;
        fd_ = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        if (fd_ < 0) error_ = errno;
    }
    ~Ioctl() {
        if (fd_ >= 0) close(fd_);
    }
    Ioctl(const Ioctl&) = delete;
    Ioctl& operator=(const Ioctl&) = delete;

    /// 0 or the errno.
    int operator()(void* command) {
        if (error_) return error_;
        ifreq request{};
        std::memcpy(request.ifr_name, netdev_.c_str(), std::min<std::size_t>(netdev_.size(), IFNAMSIZ - 1));
        request.ifr_data = static_cast<char*>(command);
        return ioctl(fd_, SIOCETHTOOL, &request) == 0 ? 0 : errno;
    }

    template <class T>
    Fact<T> refusal(int error, const char* question) const {
        if (error == EOPNOTSUPP) return Absent{"EOPNOTSUPP"};
        if (error == ENODEV) return Absent{"ENODEV"};
        return netlink::failure(error, "ethtool " + netdev_ + " " + question);
    }

private:
    std::string netdev_;
    int fd_ = -1;
    int error_ = 0;
};

/// One of ethtool's variable-length structures: a header and room for `count` elements, with as much again and more, since a
/// kernel before 6.9 writes as many as the driver has at that moment whatever it was offered.
template <class Header>
class Table {
public:
    Table(std::size_t count, std::size_t element)
        : words_((sizeof(Header) + (2 * count + 1024) * element) / sizeof(std::uint64_t) + 1), element_(element) {}
    Header* header() { return reinterpret_cast<Header*>(words_.data()); }
    decode::Bytes elements(std::size_t count) const {
        const auto* begin = reinterpret_cast<const std::uint8_t*>(words_.data()) + sizeof(Header);
        return {begin, std::min(count * element_, words_.size() * sizeof(std::uint64_t) - sizeof(Header))};
    }

private:
    std::vector<std::uint64_t> words_;
    std::size_t element_;
};

/// How many strings a set has; Absent EOPNOTSUPP when the driver has no such set.
Fact<std::size_t> string_count(Ioctl& ask, std::uint32_t set, const char* question) {
    Table<ethtool_sset_info> info(1, sizeof(std::uint32_t));
    info.header()->cmd = ETHTOOL_GSSET_INFO;
    info.header()->sset_mask = 1ull << set;
    if (const int error = ask(info.header())) return ask.refusal<std::size_t>(error, question);
    if (info.header()->sset_mask == 0) return Absent{"EOPNOTSUPP"};
    const std::size_t count = info.header()->data[0];
    if (count > most_strings) return Unreadable{"malformed", std::string("ethtool ") + question + ": ETHTOOL_GSSET_INFO has no sane count"};
    return count;
}

Fact<EthtoolPause> pause_by_ioctl(Ioctl& ask) {
    ethtool_pauseparam pause{};
    pause.cmd = ETHTOOL_GPAUSEPARAM;
    if (const int error = ask(&pause)) return ask.refusal<EthtoolPause>(error, "pause");
    return EthtoolPause{pause.autoneg != 0, pause.rx_pause != 0, pause.tx_pause != 0};
}

Fact<EthtoolChannels> channels_by_ioctl(Ioctl& ask) {
    ::ethtool_channels channels{};
    channels.cmd = ETHTOOL_GCHANNELS;
    if (const int error = ask(&channels)) return ask.refusal<EthtoolChannels>(error, "channels");
    return EthtoolChannels{channels.max_rx,   channels.max_tx,   channels.max_combined,
                           channels.rx_count, channels.tx_count, channels.combined_count};
}

Fact<EthtoolSpeed> speed_by_ioctl(Ioctl& ask) {
    // The first call only says, as a negative number, how many words the three link mode masks have.
    Table<ethtool_link_settings> settings(3 * 127, sizeof(std::uint32_t));
    settings.header()->cmd = ETHTOOL_GLINKSETTINGS;
    if (const int error = ask(settings.header())) return ask.refusal<EthtoolSpeed>(error, "speed");
    const int words = -settings.header()->link_mode_masks_nwords;
    if (words <= 0) return Unreadable{"malformed", "ethtool speed: ETHTOOL_GLINKSETTINGS does not offer its masks"};
    *settings.header() = {};
    settings.header()->cmd = ETHTOOL_GLINKSETTINGS;
    settings.header()->link_mode_masks_nwords = static_cast<std::int8_t>(words);
    if (const int error = ask(settings.header())) return ask.refusal<EthtoolSpeed>(error, "speed");
    return EthtoolSpeed{known_speed(settings.header()->speed)};
}

Fact<Flags> private_flags_by_ioctl(Ioctl& ask) {
    constexpr const char* question = "private flags";
    const auto count = string_count(ask, ETH_SS_PRIV_FLAGS, question);
    if (!count.has()) return count.as<Flags>();
    Table<ethtool_gstrings> names(*count, ETH_GSTRING_LEN);
    names.header()->cmd = ETHTOOL_GSTRINGS;
    names.header()->string_set = ETH_SS_PRIV_FLAGS;
    names.header()->len = static_cast<std::uint32_t>(*count);
    if (const int error = ask(names.header())) return ask.refusal<Flags>(error, question);
    ethtool_value value{};
    value.cmd = ETHTOOL_GPFLAGS;
    if (const int error = ask(&value)) return ask.refusal<Flags>(error, question);
    Flags flags;
    const auto text = names.elements(std::min<std::size_t>(names.header()->len, 32));
    for (std::size_t bit = 0; bit < text.size() / ETH_GSTRING_LEN; ++bit)
        flags.emplace(fixed_text(&text[bit * ETH_GSTRING_LEN], ETH_GSTRING_LEN), (value.data >> bit & 1) != 0);
    return flags;
}

/// Asks the family with `command`; where there is none, or it does not know the command, the ioctl answers.
template <class T>
Fact<T> ask_both(const std::string& netdev, const char* question, int command, int header, Fact<T> (*decoder)(decode::Bytes),
                 Fact<T> (*by_ioctl)(Ioctl&)) {
    if (!possible_name(netdev)) return Absent{"ENODEV"};
    netlink::Socket socket(NETLINK_GENERIC);
    if (const int family = socket.family(ETHTOOL_GENL_NAME).value_or(0)) {
        nl_msg* request = netlink::generic_request(family, command, ETHTOOL_GENL_VERSION, 0);
        if (request) {
            nlattr* nest = nla_nest_start(request, header | NLA_F_NESTED);
            nla_put_string(request, ETHTOOL_A_HEADER_DEV_NAME, netdev.c_str());
            nla_nest_end(request, nest);
        }
        const std::string what = "ethtool " + netdev + " " + question;
        Fact<T> answer = Unreadable{"malformed", what + ": no reply"};
        const int error = socket.ask(request, [&](nlmsghdr* message) { answer = decoder(netlink::payload(message)); });
        if (!error) return answer;
        if (error != EOPNOTSUPP) return netlink::refusal<T>(socket, error, what);
    }
    Ioctl ask(netdev);
    return by_ioctl(ask);
}

}  // namespace

Fact<EthtoolPause> ethtool_pause(const std::string& netdev) {
    return ask_both(netdev, "pause", ETHTOOL_MSG_PAUSE_GET, ETHTOOL_A_PAUSE_HEADER, decode::ethtool_pause, pause_by_ioctl);
}

Fact<EthtoolChannels> ethtool_channels(const std::string& netdev) {
    return ask_both(netdev, "channels", ETHTOOL_MSG_CHANNELS_GET, ETHTOOL_A_CHANNELS_HEADER, decode::ethtool_channels,
                    channels_by_ioctl);
}

Fact<EthtoolSpeed> ethtool_speed(const std::string& netdev) {
    return ask_both(netdev, "speed", ETHTOOL_MSG_LINKMODES_GET, ETHTOOL_A_LINKMODES_HEADER, decode::ethtool_speed, speed_by_ioctl);
}

Fact<Flags> ethtool_private_flags(const std::string& netdev) {
    return ask_both(netdev, "private flags", ETHTOOL_MSG_PRIVFLAGS_GET, ETHTOOL_A_PRIVFLAGS_HEADER, decode::ethtool_private_flags,
                    private_flags_by_ioctl);
}

Fact<EthtoolDriver> ethtool_driver(const std::string& netdev) {
    if (!possible_name(netdev)) return Absent{"ENODEV"};
    Ioctl ask(netdev);
    ethtool_drvinfo info{};
    info.cmd = ETHTOOL_GDRVINFO;
    if (const int error = ask(&info)) return ask.refusal<EthtoolDriver>(error, "driver");
    return EthtoolDriver{fixed_text(info.driver, sizeof info.driver), fixed_text(info.version, sizeof info.version),
                         fixed_text(info.fw_version, sizeof info.fw_version), fixed_text(info.bus_info, sizeof info.bus_info)};
}

Fact<Counters> ethtool_statistics(const std::string& netdev) {
    constexpr const char* question = "statistics";
    if (!possible_name(netdev)) return Absent{"ENODEV"};
    Ioctl ask(netdev);
    for (int attempt = 0; attempt < 3; ++attempt) {
        const auto count = string_count(ask, ETH_SS_STATS, question);
        if (!count.has()) return count.as<Counters>();
        Table<ethtool_gstrings> names(*count, ETH_GSTRING_LEN);
        names.header()->cmd = ETHTOOL_GSTRINGS;
        names.header()->string_set = ETH_SS_STATS;
        names.header()->len = static_cast<std::uint32_t>(*count);
        if (const int error = ask(names.header())) return ask.refusal<Counters>(error, question);
        Table<ethtool_stats> values(*count, sizeof(std::uint64_t));
        values.header()->cmd = ETHTOOL_GSTATS;
        values.header()->n_stats = static_cast<std::uint32_t>(*count);
        if (const int error = ask(values.header())) return ask.refusal<Counters>(error, question);
        // A queue added in between moves every counter behind it to another name.
        if (names.header()->len == *count && values.header()->n_stats == *count)
            return decode::ethtool_statistics(names.elements(*count), values.elements(*count));
    }
    return netlink::failure(EINTR, "ethtool " + netdev + " " + question);
}

}  // namespace live
}  // namespace preflight
