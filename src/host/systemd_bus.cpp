// What the service manager has loaded, by sd-bus (org.freedesktop.systemd1, Properties.GetAll). libsystemd is loaded at
// run time: the tool starts on a node without it. Root asks systemd's private socket first, as systemctl does, since that
// works where no D-Bus daemon runs.

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstring>

#include "host/answer.h"
#include "host/live.h"
#include "host/secrets.h"

namespace preflight::live {
namespace {

struct sd_bus;
struct sd_bus_message;
struct sd_bus_error {
    const char* name;
    const char* message;
    int need_free;
};

/// The few functions of libsystemd that are needed (sd-bus.h).
struct Library {
    int (*open_system)(sd_bus**);
    int (*create)(sd_bus**);
    int (*set_address)(sd_bus*, const char*);
    int (*start)(sd_bus*);
    int (*set_timeout)(sd_bus*, std::uint64_t);
    sd_bus* (*close)(sd_bus*);
    int (*call)(sd_bus*, const char*, const char*, const char*, const char*, sd_bus_error*, sd_bus_message**, const char*, ...);
    void (*error_free)(sd_bus_error*);
    sd_bus_message* (*unref)(sd_bus_message*);
    int (*peek)(sd_bus_message*, char*, const char**);
    int (*enter)(sd_bus_message*, char, const char*);
    int (*exit)(sd_bus_message*);
    int (*read)(sd_bus_message*, char, void*);
    int (*skip)(sd_bus_message*, const char*);
    int (*path_encode)(const char*, const char*, char**);
    bool complete = false;
};

const Library& library() {
    static const Library loaded = [] {
        Library lib{};
        void* handle = dlopen("libsystemd.so.0", RTLD_NOW | RTLD_LOCAL);
        if (!handle) return lib;
        lib.complete = true;
        const auto take = [&](auto& function, const char* name) {
            function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(handle, name));
            lib.complete &= function != nullptr;
        };
        take(lib.open_system, "sd_bus_open_system");
        take(lib.create, "sd_bus_new");
        take(lib.set_address, "sd_bus_set_address");
        take(lib.start, "sd_bus_start");
        take(lib.set_timeout, "sd_bus_set_method_call_timeout");
        take(lib.close, "sd_bus_flush_close_unref");
        take(lib.call, "sd_bus_call_method");
        take(lib.error_free, "sd_bus_error_free");
        take(lib.unref, "sd_bus_message_unref");
        take(lib.peek, "sd_bus_message_peek_type");
        take(lib.enter, "sd_bus_message_enter_container");
        take(lib.exit, "sd_bus_message_exit_container");
        take(lib.read, "sd_bus_message_read_basic");
        take(lib.skip, "sd_bus_message_skip");
        take(lib.path_encode, "sd_bus_path_encode");
        return lib;
    }();
    return loaded;
}

constexpr std::uint64_t call_timeout_us = 5'000'000;
constexpr const char* destination = "org.freedesktop.systemd1";

/// Where a connection cannot be had, `error` says why: an errno, 0 when there is no systemd at all.
struct Bus {
    sd_bus* bus = nullptr;
    int error = 0;

    Bus() {
        const Library& lib = library();
        if (geteuid() == 0 && lib.create(&bus) >= 0) {
            if (lib.set_address(bus, "unix:path=/run/systemd/private") >= 0 && (error = lib.start(bus)) >= 0) {
                lib.set_timeout(bus, call_timeout_us);
                return;
            }
            bus = lib.close(bus);
        }
        error = lib.open_system(&bus);
        if (error < 0) bus = nullptr;
        else lib.set_timeout(bus, call_timeout_us);
    }
    ~Bus() {
        if (bus) library().close(bus);
    }
    Bus(const Bus&) = delete;
    Bus& operator=(const Bus&) = delete;
};

Bus& bus() {
    static Bus one;
    return one;
}

/// The next value of a message as JSON; null when the message is not what it says it is.
Json value_of(sd_bus_message* message, int depth = 0) {
    const Library& lib = library();
    char type = 0;
    const char* contents = nullptr;
    if (depth > 12 || lib.peek(message, &type, &contents) <= 0) return nullptr;
    union {
        const char* text;
        int boolean;
        std::uint8_t byte;
        std::int16_t i16;
        std::uint16_t u16;
        std::int32_t i32;
        std::uint32_t u32;
        std::int64_t i64;
        std::uint64_t u64;
        double real;
    } v{};
    switch (type) {
        case 's': case 'o': case 'g': return lib.read(message, type, &v) < 0 ? Json() : Json(v.text);
        case 'b': return lib.read(message, type, &v) < 0 ? Json() : Json(v.boolean != 0);
        case 'y': return lib.read(message, type, &v) < 0 ? Json() : Json(v.byte);
        case 'n': return lib.read(message, type, &v) < 0 ? Json() : Json(v.i16);
        case 'q': return lib.read(message, type, &v) < 0 ? Json() : Json(v.u16);
        case 'i': return lib.read(message, type, &v) < 0 ? Json() : Json(v.i32);
        case 'u': return lib.read(message, type, &v) < 0 ? Json() : Json(v.u32);
        case 'x': return lib.read(message, type, &v) < 0 ? Json() : Json(v.i64);
        case 't': return lib.read(message, type, &v) < 0 ? Json() : Json(v.u64);
        case 'd': return lib.read(message, type, &v) < 0 ? Json() : Json(v.real);
        case 'v': {
            const std::string inside = contents;
            if (lib.enter(message, 'v', inside.c_str()) < 0) return nullptr;
            Json value = value_of(message, depth + 1);
            lib.exit(message);
            return value;
        }
        case 'a': case 'r': {
            const std::string inside = contents;
            if (lib.enter(message, type, inside.c_str()) < 0) return nullptr;
            Json list = Json::array();
            char next = 0;
            const char* ignored = nullptr;
            while (lib.peek(message, &next, &ignored) > 0) list.push_back(value_of(message, depth + 1));
            lib.exit(message);
            return list;
        }
        default: lib.skip(message, nullptr); return nullptr;
    }
}

/// All properties of one interface of an object, by name.
Fact<Json> properties(const std::string& path, const char* interface) {
    const Library& lib = library();
    sd_bus_error error{};
    sd_bus_message* reply = nullptr;
    const int result = lib.call(bus().bus, destination, path.c_str(), "org.freedesktop.DBus.Properties", "GetAll", &error, &reply, "s", interface);
    if (result < 0) {
        const std::string text = error.name ? error.name : errno_name(-result);
        lib.error_free(&error);
        if (text.find("UnknownInterface") != std::string::npos || text.find("NoSuchUnit") != std::string::npos) return Absent{text};
        const bool refused = -result == EACCES || -result == EPERM;
        return Unreadable{refused ? "EACCES" : errno_name(-result), fmt::format("the service manager's answer about {}: {}", path, text)};
    }
    Json out = Json::object();
    if (lib.enter(reply, 'a', "{sv}") >= 0) {
        while (lib.enter(reply, 'e', "sv") > 0) {
            const char* key = nullptr;
            if (lib.read(reply, 's', &key) < 0) break;
            const std::string name = key;
            out[name] = value_of(reply);
            lib.exit(reply);
        }
        lib.exit(reply);
    }
    lib.unref(reply);
    return out;
}

/// Nothing when the manager can be asked; else why not.
std::optional<Fact<Json>> closed_door(const std::string& root) {
    if (root != "/") return Absent{"the service manager of another root cannot be asked"};
    if (access("/run/systemd/system", F_OK) != 0) return Absent{"systemd does not manage this node"};
    if (!library().complete) return Unreadable{"no-library", "libsystemd.so.0 cannot be loaded"};
    if (!bus().bus) return Unreadable{errno_name(-bus().error), "the system bus cannot be reached"};
    return std::nullopt;
}

template <class T>
T get(const Json& from, const char* name) {
    const auto found = from.find(name);
    if (found == from.end() || found->is_null()) return T{};
    try {
        return found->get<T>();
    } catch (const Json::exception&) {
        return T{};
    }
}

std::vector<std::string> masked(std::vector<std::string> entries) {
    for (std::string& entry : entries) entry = secrets::mask_assignment(entry);
    return entries;
}

/// Directives of the sandbox in the manager's form, put back into unit file spelling.
std::map<std::string, std::string> sandbox_of(const Json& service) {
    std::map<std::string, std::string> out;
    for (const char* name : {"PrivateDevices", "PrivateUsers", "PrivateNetwork", "ProtectClock", "NoNewPrivileges"})
        if (get<bool>(service, name)) out[name] = "yes";
    for (const char* name : {"DevicePolicy", "NetworkNamespacePath", "RootDirectory", "RootImage", "Slice"})
        if (const auto text = get<std::string>(service, name); !text.empty()) out[name] = text;
    const auto list = [&](const char* name, const std::vector<std::string>& words) {
        for (const std::string& word : words) out[name] += (out[name].empty() ? "" : " ") + word;
    };
    list("InaccessiblePaths", get<std::vector<std::string>>(service, "InaccessiblePaths"));
    for (const Json& entry : get<std::vector<Json>>(service, "DeviceAllow"))  // (device, "rwm")
        if (entry.is_array() && !entry.empty() && entry[0].is_string()) list("DeviceAllow", {entry[0].get<std::string>()});
    for (const Json& entry : get<std::vector<Json>>(service, "TemporaryFileSystem"))
        if (entry.is_array() && !entry.empty() && entry[0].is_string()) list("TemporaryFileSystem", {entry[0].get<std::string>()});
    if (const auto found = service.find("RestrictAddressFamilies"); found != service.end() && found->is_array() && found->size() == 2) {
        const auto words = (*found)[1].get<std::vector<std::string>>();
        const bool allows = (*found)[0].get<bool>();
        if (allows) out["RestrictAddressFamilies"] = "none";
        if (!words.empty()) {
            out["RestrictAddressFamilies"] = allows ? "" : "~";
            for (const std::string& word : words) out["RestrictAddressFamilies"] += (out["RestrictAddressFamilies"].size() > (allows ? 0u : 1u) ? " " : "") + word;
        } else if (!allows) {
            out.erase("RestrictAddressFamilies");
        }
    }
    return out;
}

}  // namespace

Fact<ServiceManager> service_manager(const std::string& root) {
    if (const auto closed = closed_door(root)) return closed->as<ServiceManager>();
    return properties("/org/freedesktop/systemd1", "org.freedesktop.systemd1.Manager").then([](const Json& manager) {
        return ServiceManager{get<std::string>(manager, "Version"), masked(get<std::vector<std::string>>(manager, "Environment")),
                              get<std::uint64_t>(manager, "DefaultLimitMEMLOCKSoft")};
    });
}

Fact<LoadedUnit> loaded_unit(const std::string& root, const std::string& unit) {
    if (const auto closed = closed_door(root)) return closed->as<LoadedUnit>();
    char* encoded = nullptr;
    if (library().path_encode("/org/freedesktop/systemd1/unit", unit.c_str(), &encoded) < 0) return Unreadable{"EINVAL", unit + ": not a unit name"};
    const std::string path = encoded;
    free(encoded);
    const auto of_unit = properties(path, "org.freedesktop.systemd1.Unit");
    if (!of_unit.has()) return of_unit.as<LoadedUnit>();
    const auto of_service = properties(path, "org.freedesktop.systemd1.Service");
    if (!of_service.has()) return of_service.as<LoadedUnit>();
    const Json &u = *of_unit, &s = *of_service;
    LoadedUnit out;
    out.id = get<std::string>(u, "Id");
    out.load_state = get<std::string>(u, "LoadState");
    if (const auto error = get<std::vector<std::string>>(u, "LoadError"); error.size() == 2 && !error[0].empty()) out.load_error = error[0];
    out.active_state = get<std::string>(u, "ActiveState");
    out.sub_state = get<std::string>(u, "SubState");
    out.result = get<std::string>(s, "Result");
    out.restarts = get<unsigned>(s, "NRestarts");
    out.main = {{}, get<int>(s, "ExecMainCode"), get<int>(s, "ExecMainStatus")};
    // (path, argv, ignore failure, 4 times, pid, code, status)
    for (const Json& command : get<std::vector<Json>>(s, "ExecStartPre"))
        if (command.is_array() && command.size() == 10 && command[0].is_string() && !command[2].get<bool>())
            out.start_pre.push_back({command[0].get<std::string>(), command[8].get<int>(), command[9].get<int>()});
    out.fragment = get<std::string>(u, "FragmentPath");
    out.drop_ins = get<std::vector<std::string>>(u, "DropInPaths");
    out.need_daemon_reload = get<bool>(u, "NeedDaemonReload");
    out.assert_result = get<bool>(u, "AssertResult");
    out.condition_result = get<bool>(u, "ConditionResult");
    out.main_pid = get<int>(s, "MainPID");
    out.type = get<std::string>(s, "Type");
    out.user = get<std::string>(s, "User");
    out.group = get<std::string>(s, "Group");
    out.dynamic_user = get<bool>(s, "DynamicUser");
    for (const Json& command : get<std::vector<Json>>(s, "ExecStart")) {  // (path, argv, ignore failure, times…)
        if (!command.is_array() || command.size() < 2 || !command[0].is_string() || !command[1].is_array()) continue;
        std::vector<std::string> words = secrets::mask_arguments(command[1].get<std::vector<std::string>>());
        words.insert(words.begin(), command[0].get<std::string>());
        out.exec_start.push_back(std::move(words));
    }
    out.environment = masked(get<std::vector<std::string>>(s, "Environment"));
    for (const Json& file : get<std::vector<Json>>(s, "EnvironmentFiles"))
        if (file.is_array() && file.size() == 2 && file[0].is_string() && file[1].is_boolean())
            out.environment_files.push_back((file[1].get<bool>() ? "-" : "") + file[0].get<std::string>());
    out.pass_environment = get<std::vector<std::string>>(s, "PassEnvironment");
    out.unset_environment = get<std::vector<std::string>>(s, "UnsetEnvironment");
    for (std::string& entry : out.unset_environment)
        if (entry.find('=') != std::string::npos) entry = secrets::mask_assignment(entry);
    out.memlock_soft = get<std::uint64_t>(s, "LimitMEMLOCKSoft");
    out.memlock_hard = get<std::uint64_t>(s, "LimitMEMLOCK");
    out.ambient_capabilities = get<std::uint64_t>(s, "AmbientCapabilities");
    out.bounding_set = get<std::uint64_t>(s, "CapabilityBoundingSet");
    out.memory_max = get<std::uint64_t>(s, "MemoryMax");
    out.sandbox = sandbox_of(s);
    return out;
}

}  // namespace preflight::live
