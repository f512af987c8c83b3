#include "facts/service_user.h"

#include <fmt/format.h>

#include <algorithm>

#include "facts/service.h"

namespace preflight {

ServiceUser ServiceUser::read(const ServiceFacts& service) {
    if (service.absent() || service.uncertain() || service.unit.dynamic_user || !service.account) return {};
    const ServiceUnit& unit = service.unit;
    static constexpr std::string_view override = "CAP_DAC_OVERRIDE";
    const auto& ambient = unit.ambient_capabilities;
    const bool given = service.account->uid == 0 || std::find(ambient.begin(), ambient.end(), override) != ambient.end();
    ServiceUser user{"User=" + service.user_name(), given && unit.may_have(override), unit.group || !unit.supplementary_groups.empty(), service.account->uid, {}};
    user.groups.insert(service.account->gid);
    user.groups.insert(service.account->groups.begin(), service.account->groups.end());
    return user;
}

Allowed allowed(const ServiceUser& user, const FileInfo& file, Permission permission) {
    const auto wanted = static_cast<unsigned>(permission);
    const auto granted = [&](unsigned bits) { return (bits & wanted) == wanted; };
    const bool anyone = granted(file.mode >> 6) && granted(file.mode >> 3) && granted(file.mode);
    // It searches every folder, but executes only what at least one may execute.
    const bool program = permission == Permission::execute && file.type != "dir";
    if (user.overrides) return !program || file.mode & 0111 ? Allowed::yes : Allowed::no;
    if (anyone && !file.access_list) return Allowed::yes;
    if (!user.known()) return granted(file.mode) && !file.access_list ? Allowed::yes : Allowed::unclear;
    if (user.uid == file.uid) return granted(file.mode >> 6) ? Allowed::yes : Allowed::no;
    if (file.access_list) return Allowed::unclear;
    if (user.groups.count(file.gid)) return granted(file.mode >> 3) ? Allowed::yes : Allowed::no;
    if (user.more_groups && granted(file.mode) != granted(file.mode >> 3)) return Allowed::unclear;
    return granted(file.mode) ? Allowed::yes : Allowed::no;
}

std::optional<Barrier> barrier(Host& host, const ServiceUser& user, const std::string& path, Permission permission) {
    if (user.overrides && permission != Permission::execute) return std::nullopt;
    for (auto slash = path.find('/', 1);; slash = path.find('/', slash + 1)) {
        const bool last = slash == std::string::npos;
        const std::string part = path.substr(0, slash);
        const auto info = host.info(part);
        if (!info) return std::nullopt;
        const Allowed answer = allowed(user, *info, last ? permission : Permission::execute);
        if (answer != Allowed::yes)
            return Barrier{fmt::format("{} has mode {:04o}, owner {}:{}{}", part, info->mode, info->uid, info->gid, info->access_list ? " and an access list" : ""), part, answer == Allowed::no};
        if (last) return std::nullopt;
    }
}

}  // namespace preflight
