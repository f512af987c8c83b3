#include "facts/keepers.h"

#include <algorithm>
#include <cctype>
#include <set>

namespace preflight {
namespace {

const std::string unit_folder = "/etc/systemd/system";

struct Folder {
    const char *kind, *path, *suffix;
};
constexpr Folder folders[] = {
    {"udev rule", "/etc/udev/rules.d", ".rules"},
    {"script", "/etc/NetworkManager/dispatcher.d", ""},
    {"script", "/etc/NetworkManager/dispatcher.d/pre-up.d", ""},
    {"NetworkManager profile", "/etc/NetworkManager/system-connections", ".nmconnection"},
    {"script", "/etc/network/interfaces.d", ""},
};
constexpr Folder files[] = {{"script", "/etc/network/interfaces", ""}, {"script", "/etc/rc.d/rc.local", ""}, {"script", "/etc/rc.local", ""}};

bool ends_with(const std::string& text, const std::string& end) {
    return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

bool starts_with(const std::string& text, const char* begin) {
    return text.rfind(begin, 0) == 0;
}

/// The word stands alone, not inside a longer name: "ens1f0" is not in "ens1f0np0".
bool holds_word(const std::string& text, const std::string& word) {
    const auto part_of_name = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
    for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
        const auto end = at + word.size();
        if ((at == 0 || !part_of_name(text[at - 1])) && (end == text.size() || !part_of_name(text[end]))) return true;
    }
    return false;
}

class Search {
public:
    Search(Host& host, Keepers& keepers) : host_(host), keepers_(keepers) {}

    void run() {
        units();
        for (const Folder& folder : folders)
            for (const std::string& name : names_in(folder.path))
                if (ends_with(name, folder.suffix)) file(folder.kind, std::string(folder.path) + "/" + name);
        for (const Folder& single : files) file(single.kind, single.path);
        lldpad();
    }

private:
    template <class T>
    bool noted(const Fact<T>& fact, const std::string& path) {
        if (fact.unreadable()) keepers_.unreadable.emplace_back(path, fact.why());
        return fact.has();
    }

    std::vector<std::string> names_in(const std::string& path) {
        const auto names = host_.list(path);
        return noted(names, path) ? *names : std::vector<std::string>{};
    }

    void file(const char* kind, const std::string& path) {
        const auto lines = host_.dcb_lines(path);
        if (!noted(lines, path) || !sets_dcb(*lines)) return;
        Keeper keeper{};
        keeper.kind = kind;
        keeper.path = path;
        keeper.lines = *lines;
        keepers_.list.push_back(std::move(keeper));
    }

    /// Lines that only tell which netdev or how a unit runs are no setting.
    static bool sets_dcb(const std::vector<std::string>& lines) {
        return std::any_of(lines.begin(), lines.end(), [](const std::string& line) {
            for (const char* word : {"dcb ", "mlnx_qos", "set-priv-flags", "lldptool", "dcbtool", "priority-flow-control"})
                if (line.find(word) != std::string::npos) return true;
            return false;
        });
    }

    void units() {
        std::set<std::string> enabled;
        std::vector<std::string> present;
        for (const std::string& name : names_in(unit_folder)) {
            if (ends_with(name, ".wants") || ends_with(name, ".requires")) {
                for (const std::string& wanted : names_in(unit_folder + "/" + name)) enabled.insert(wanted);
            } else if (ends_with(name, ".service")) {
                present.push_back(name);
            }
        }
        for (const std::string& name : present) {
            const std::string path = unit_folder + "/" + name;
            auto lines = host_.dcb_lines(path);
            if (!noted(lines, path)) continue;
            std::vector<std::string> all = *lines;
            for (const std::string& line : *lines)
                if (starts_with(line, "ExecStart=/"))
                    if (const auto script = host_.dcb_lines(line.substr(line.find('=') + 1)); script) all.insert(all.end(), script->begin(), script->end());
            if (!sets_dcb(all)) continue;
            const auto at = name.find("@.");
            if (at == std::string::npos) unit(name, path, all, enabled.count(name) > 0);
            else
                for (const std::string& instance : enabled)
                    if (starts_with(instance, name.substr(0, at + 1).c_str())) unit(instance, path, all, true);
        }
        lldpad_enabled_ = enabled.count("lldpad.service") || enabled.count("lldpad.socket");
    }

    void unit(const std::string& name, const std::string& path, const std::vector<std::string>& lines, bool enabled) {
        Keeper keeper{"systemd unit", path, name, lines, enabled, false, active(name)};
        const auto has = [&](const char* line) { return std::find(lines.begin(), lines.end(), line) != lines.end(); };
        keeper.stays_active = !has("Type=oneshot") || has("RemainAfterExit=yes") || has("RemainAfterExit=true") || has("RemainAfterExit=1");
        keepers_.list.push_back(std::move(keeper));
    }

    Fact<bool> active(const std::string& name) {
        const std::string path = "/run/systemd/units/invocation:" + name;
        const auto link = host_.link_target(path);
        if (link) return true;
        if (link.absent()) return false;
        noted(link, path);
        return link.as<bool>();
    }

    /// lldpad keeps its settings by netdev name in one file of its own.
    void lldpad() {
        const std::string path = "/var/lib/lldpad/lldpad.conf";
        const auto text = host_.read(path);
        if (!noted(text, path)) return;
        Keeper keeper{"lldpad", path, "lldpad.service", {*text}, lldpad_enabled_, true, active("lldpad.service")};
        keepers_.list.push_back(std::move(keeper));
    }

    Host& host_;
    Keepers& keepers_;
    bool lldpad_enabled_ = false;
};

}  // namespace

bool Keeper::names(const std::string& netdev) const {
    if (const auto at = unit.find('@'); at != std::string::npos && unit.compare(at + 1, std::string::npos, netdev + ".service") == 0) return true;
    return std::any_of(lines.begin(), lines.end(), [&](const std::string& line) { return holds_word(line, netdev); });
}

Keepers Keepers::read(Host& host) {
    Keepers result;
    Search(host, result).run();
    return result;
}

std::vector<const Keeper*> Keepers::of(const std::string& netdev) const {
    std::vector<const Keeper*> found;
    for (const Keeper& keeper : list)
        if (keeper.names(netdev)) found.push_back(&keeper);
    return found;
}

}  // namespace preflight
