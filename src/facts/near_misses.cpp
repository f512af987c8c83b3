#include "facts/near_misses.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "facts/environment.h"
#include "facts/service.h"
#include "preflight/host.h"

namespace preflight {
namespace {

/// Where people keep the variables of a service; only what the unit names is read.
constexpr const char* usual_files[] = {usual_environment_file.data(), "/etc/minio/config.env", "/etc/sysconfig/minio", "/etc/minio/minio.env",
                                       "/etc/minio.env"};

/// Where administrators put units; what packages and generators write is not a try of theirs.
constexpr const char* own_unit_folders[] = {"/etc/systemd/system", "/run/systemd/system"};

using Wanted = std::function<bool(const UnitLine&)>;

class Units {
public:
    Units(Host& host, const ServiceFacts& service, Wanted wanted) : host_(host), service_(service), wanted_(std::move(wanted)) {}

    std::vector<NearMiss> find() {
        for (const char* root : own_unit_folders) {
            // systemd.unit(5): the folder is called after the whole unit name.
            const std::string bare = service_.name.substr(0, service_.name.rfind('.'));
            const std::string right = fmt::format("{}/{}.d", root, service_.name);
            const std::string why = fmt::format("drop-ins are read from {}.d", service_.name);
            for (const std::string& folder : {bare + ".d", service_.name, bare, service_.name + ".conf.d", bare + ".service.conf"})
                all_in(fmt::format("{}/{}", root, folder), why, [](const std::string&) { return true; });
            all_in(right, "the name of a drop-in must end in .conf", [](const std::string& name) { return !name.ends_with(".conf"); });
        }
        for (const UnitLine& line : service_.files.lines)
            if (line.section != "Service" && wanted_(line))
                found_.push_back({line.origin.text(), fmt::format("it stands in [{}], not in [Service]", line.section)});
        shadowed();
        return std::move(found_);
    }

private:
    template <class F>
    void all_in(const std::string& folder, const std::string& why, F&& chosen) {
        for (const std::string& name : host_.list(folder).value_or({}))
            if (chosen(name)) file(folder + "/" + name, why);
    }

    void file(const std::string& path, const std::string& why) {
        const auto text = host_.unit_file(path);
        if (!text) return;
        for (const UnitLine& line : read_unit_text(*text, path).lines)
            if (wanted_(line)) {
                found_.push_back({line.origin.text(), why});
                return;
            }
    }

    /// Unit files of the same name in folders of lower precedence.
    void shadowed() {
        if (!service_.files.fragment) return;
        bool below = false;
        for (const std::string& root : unit_folders()) {
            const std::string path = fmt::format("{}/{}", root, service_.files.id);
            if (below && host_.resolve(path).value_or("") != host_.resolve(*service_.files.fragment).value_or(*service_.files.fragment))
                file(path, fmt::format("{} stands before it", *service_.files.fragment));
            below |= path == *service_.files.fragment;
        }
    }

    Host& host_;
    const ServiceFacts& service_;
    Wanted wanted_;
    std::vector<NearMiss> found_;
};

std::vector<std::string> files_in(Host& host, const std::string& folder, std::string_view ending) {
    std::vector<std::string> paths;
    for (const std::string& name : host.list(folder).value_or({}))
        if (name.ends_with(ending)) paths.push_back(folder + "/" + name);
    return paths;
}

}  // namespace

std::vector<NearMiss> memlock_near_misses(const Facts& facts) {
    Host& host = facts.host();
    const ServiceFacts& service = facts.service();
    std::vector<NearMiss> tries =
        Units(host, service, [](const UnitLine& line) { return line.key == "LimitMEMLOCK" && !line.value.empty(); }).find();
    // The manager reads its own configuration at its start and at daemon-reexec only.
    for (const UnitLine& line : manager_settings(host)) {
        if (line.key != "DefaultLimitMEMLOCK" || !service.manager) continue;
        const auto stated = systemd_text::parse_byte_limit(line.value);
        if (stated && stated->soft != service.manager->memlock_soft)
            tries.push_back({line.origin.text(), "the service manager has not read it; `systemctl daemon-reexec` makes it"});
    }
    std::vector<std::string> files{"/etc/security/limits.conf"};
    for (std::string& path : files_in(host, "/etc/security/limits.d", ".conf")) files.push_back(std::move(path));
    for (const std::string& path : files)
        for (const FileLine& line : host.memlock_lines(path).value_or({}))
            tries.push_back({fmt::format("{}:{}", path, line.line), "PAM applies it to logins, not to services"});
    return tries;
}

std::vector<NearMiss> variable_near_misses(const Facts& facts, const std::string& name) {
    Host& host = facts.host();
    const ServiceFacts& service = facts.service();
    const EnvironmentFacts& environment = facts.environment();
    const auto assigns = [&](const UnitLine& line) {
        return line.key == "Environment" && (line.value.find(name + "=") != std::string::npos);
    };
    std::vector<NearMiss> tries = Units(host, service, assigns).find();
    const auto look = [&](const std::string& path, const std::string& why) {
        const auto text = host.environment_file(path);
        if (!text) return;
        const EnvFile file = read_env_file(*text, service.comments);
        for (const EnvLine& line : file.lines)
            if (line.name == name) tries.push_back({fmt::format("{}:{}", path, line.line), why});
        for (const EnvDropped& line : file.dropped)
            if (line.name == name) tries.push_back({fmt::format("{}:{}", path, line.line), why});
    };
    std::string named;
    for (const EnvironmentFileRead& file : environment.files) named += (named.empty() ? "" : ", ") + file.path;
    for (const std::string path : usual_files) {
        const bool read = std::any_of(environment.files.begin(), environment.files.end(), [&](const EnvironmentFileRead& file) { return file.path == path; });
        if (!read && !(environment.second && environment.second->path == path))
            look(path, named.empty() ? "the unit names no environment file" : "the unit reads " + named);
    }
    look("/etc/environment", "PAM applies it to logins, not to services");
    std::vector<std::string> profiles{"/etc/profile"};
    for (std::string& path : files_in(host, "/etc/profile.d", ".sh")) profiles.push_back(std::move(path));
    for (const std::string& path : profiles) look(path, "login shells read it, services do not");
    return tries;
}

std::string first_of(const std::vector<NearMiss>& tries) {
    return tries.empty() ? std::string() : "; " + tries.front().text();
}

}  // namespace preflight
