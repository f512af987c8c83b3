// Accounts: the name service of the node itself, or below another root its etc/passwd and etc/group. An account that is not
// found is absent only where no other source (sss, ldap, winbind…) could know it.

#include <grp.h>
#include <pwd.h>

#include <algorithm>
#include <array>
#include <sstream>

#include "host/live.h"

namespace preflight::live {
namespace {

std::vector<std::string> fields_of(const std::string& line) {
    std::vector<std::string> fields(1);
    for (const char c : line)
        if (c == ':') fields.emplace_back();
        else fields.back() += c;
    return fields;
}

/// The sources behind "passwd:" that are not local files or made by systemd.
std::string other_sources(const std::string& root) {
    const auto text = read(root, "/etc/nsswitch.conf");
    if (!text.has()) return {};
    std::istringstream lines(*text);
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line.substr(0, line.find('#')));
        std::string word, others;
        if (!(words >> word) || word != "passwd:") continue;
        while (words >> word)
            if (word[0] != '[' && word != "files" && word != "systemd" && word != "compat" && word != "altfiles") others += (others.empty() ? "" : " ") + word;
        return others;
    }
    return {};
}

Fact<User> not_found(const std::string& root, const std::string& name) {
    const std::string others = other_sources(root);
    if (others.empty()) return Absent{};
    return Unreadable{"other-source", name + ": not found, but the name service also asks: " + others};
}

Fact<User> user_below(const std::string& root, const std::string& name) {
    const auto passwd = read(root, "/etc/passwd");
    if (!passwd.has()) return passwd.as<User>();
    std::istringstream lines(*passwd);
    for (std::string line; std::getline(lines, line);) {
        const auto fields = fields_of(line);
        if (fields.size() < 7 || (fields[0] != name && fields[2] != name)) continue;
        User user{fields[0], static_cast<unsigned>(std::strtoul(fields[2].c_str(), nullptr, 10)), static_cast<unsigned>(std::strtoul(fields[3].c_str(), nullptr, 10)),
                  fields[5], fields[6], {}};
        user.groups.push_back(user.gid);
        if (const auto group = read(root, "/etc/group"); group.has()) {
            std::istringstream groups(*group);
            while (std::getline(groups, line)) {
                const auto of = fields_of(line);
                if (of.size() < 4) continue;
                std::istringstream members(of[3]);
                for (std::string member; std::getline(members, member, ',');)
                    if (member == user.name) user.groups.push_back(static_cast<unsigned>(std::strtoul(of[2].c_str(), nullptr, 10)));
            }
        }
        return user;
    }
    return not_found(root, name);
}

}  // namespace

Fact<User> user(const std::string& root, const std::string& name) {
    if (root != "/") return user_below(root, name);
    std::array<char, 65536> buffer;
    passwd entry{}, *found = nullptr;
    int error = getpwnam_r(name.c_str(), &entry, buffer.data(), buffer.size(), &found);
    if (!found && !name.empty() && std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; }))
        error = getpwuid_r(static_cast<uid_t>(std::strtoul(name.c_str(), nullptr, 10)), &entry, buffer.data(), buffer.size(), &found);
    if (!found && error != 0 && error != ENOENT && error != ESRCH) return Unreadable{errno_name(error), "account " + name};
    if (!found) return not_found(root, name);
    User result{entry.pw_name, entry.pw_uid, entry.pw_gid, entry.pw_dir, entry.pw_shell, {}};
    int count = 256;
    std::vector<gid_t> groups(static_cast<std::size_t>(count));
    if (getgrouplist(entry.pw_name, entry.pw_gid, groups.data(), &count) < 0) {
        groups.resize(static_cast<std::size_t>(count));
        getgrouplist(entry.pw_name, entry.pw_gid, groups.data(), &count);
    }
    result.groups.assign(groups.begin(), groups.begin() + count);
    return result;
}

}  // namespace preflight::live
