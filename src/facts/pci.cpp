#include "facts/pci.h"

#include <fmt/format.h>

#include <charconv>

#include "facts/node.h"

namespace preflight {

Fact<int> sysfs_number(const Fact<std::string>& text) {
    return text.then([](const std::string& raw) -> Fact<int> {
        std::string digits = trimmed(raw);
        const int base = digits.rfind("0x", 0) == 0 ? 16 : 10;
        if (base == 16) digits.erase(0, 2);
        int value = 0;
        const char* const end = digits.data() + digits.size();
        const auto done = std::from_chars(digits.data(), end, value, base);
        if (done.ec != std::errc() || done.ptr != end) return Unreadable{"malformed", fmt::format("\"{}\" is not a number", digits.substr(0, 40))};
        return value;
    });
}

std::string pci_address_in(const std::string& path) {
    const auto is_address = [](const std::string& part) {  // DDDD:BB:DD.F, the domain may be longer
        const auto first = part.find(':');
        return first != std::string::npos && first >= 4 && part.size() == first + 8 && part[first + 3] == ':' && part[first + 6] == '.';
    };
    for (std::size_t end = path.size(); end != std::string::npos && end > 0;) {
        const std::size_t slash = path.rfind('/', end - 1);
        const std::size_t begin = slash == std::string::npos ? 0 : slash + 1;
        if (const std::string part = path.substr(begin, end - begin); is_address(part)) return part;
        end = slash;
    }
    return {};
}

PciFunctions PciFunctions::read(Host& host) {
    PciFunctions functions;
    functions.addresses = host.list("/sys/bus/pci/devices");
    for (const std::string& address : functions.addresses.value_or({})) {
        const std::string folder = "/sys/bus/pci/devices/" + address + "/";
        const auto class_code = sysfs_number(host.read(folder + "class"));
        if (!class_code) continue;
        PciFunction function{address, static_cast<unsigned>(*class_code), {}, {}};
        if (function.network() || function.display()) {
            const auto id = [&](const char* file) { return sysfs_number(host.read(folder + file)).then([](int value) { return static_cast<unsigned>(value); }); };
            function.vendor = id("vendor");
            function.device = id("device");
        }
        functions.list.push_back(std::move(function));
    }
    return functions;
}

}  // namespace preflight
