// S3 over RDMA: whether the device has the transport S3 clients need, and what a client on this node will find.

#include "facts/s3_client.h"

#include <algorithm>
#include <map>
#include <set>

#include "facts/node.h"
#include "facts/rdma.h"
#include "facts/role.h"
#include "facts/service.h"
#include "grammar/systemd_text.h"
#include "modules.h"
#include "remedies.h"
#include "s3.h"
#include "server.h"
#include "text.h"

namespace preflight {
namespace {

using systemd_text::infinity;

// mlx5_ib alone creates DC queue pairs (Linux drivers/infiniband/hw/mlx5/qp.c, MLX5_IB_QPT_DCI and DCT).
constexpr std::string_view dc_driver = "mlx5_ib";
// Servers from this release on take tokens of exactly 81 characters (minio-cpp pull request 244).
constexpr std::string_view strict_tokens = "2026-08-07";
constexpr std::pair<int, int> oldest_cufile{1, 18};  // MinIO rdma-training, client list

/// The devices a client could open: those of the storage ports, else all with an active port.
std::vector<const RdmaDeviceFacts*> client_devices(const Facts& facts) {
    std::vector<const RdmaDeviceFacts*> devices;
    for (const Port* port : facts.ports().storage())
        if (const RdmaDeviceFacts* device = device_of(facts, *port); device && std::find(devices.begin(), devices.end(), device) == devices.end()) devices.push_back(device);
    if (!devices.empty() || !facts.options().interfaces.empty()) return devices;
    for (const RdmaDeviceFacts& device : facts.rdma().devices)
        if (std::any_of(device.device.ports.begin(), device.device.ports.end(), [](const RdmaPort& port) { return port.state == "ACTIVE"; })) devices.push_back(&device);
    return devices;
}

/// What the driver offers instead of DC, as far as it is known.
std::string queue_pairs_of(const std::string& module) {
    if (module == "irdma") return "irdma offers RC, UD and GSI queue pairs only";  // drivers/infiniband/hw/irdma/verbs.c
    if (module == "rdma_rxe" || module == "siw") return module + " is software and has no DC queue pairs";
    return fmt::format("{} has no DC queue pairs", module);
}

void judge_transport(const Facts& facts, Findings& out) {
    std::vector<std::string> with, without, untold;
    std::set<std::string> modules;
    for (const RdmaDeviceFacts* device : client_devices(facts)) {
        const std::string& name = device->device.name;
        if (device->module.empty()) untold.push_back(name);
        else if (device->module == dc_driver) with.push_back(name);
        else {
            without.push_back(name);
            modules.insert(device->module);
        }
    }
    const auto sourced = [&](Draft draft) {
        if (facts.roles() & client) {
            const ClientLibrary& library = facts.s3_client().library("libs3rdma.so.0");
            draft.note("libs3rdma here", library.found() ? library.real : "not found");
        }
        return draft.want("a device with the DC transport (Dynamically Connected): ConnectX-4 or newer with mlx5_ib")
            .from("driver of the RDMA device; public header of libs3rdma 0.3.0 (minio/minio-cpp); NVIDIA cuObject, technical specifications");
    };
    std::vector<std::string> limits;
    for (const std::string& module : modules) limits.push_back(queue_pairs_of(module));

    if (with.empty() && without.empty() && untold.empty()) {
        out.unknown(node_subject(), "no RDMA device of a storage port is known", "Make the RDMA device appear first (rdma.device).");
    } else if (with.empty() && without.empty()) {
        sourced(out.unknown(node_subject(), "the driver of " + list_of(untold) + " is not told here", "Look with `rdma dev` and `ibv_devinfo` which driver it has."));
    } else if (with.empty() && facts.roles() & client) {
        sourced(out.fail(node_subject(), fmt::format("{}: {}, no DC transport", list_of(without), list_of(limits))))
            .because("MinIO's public S3 client library refuses to open a device without DC, and NVIDIA's cuObject client requires it as well, so S3 requests of this node do not "
                     "use RDMA. The driver sets this limit: no setting on this node lifts it. Inter-node RDMA does not rest on it.")
            .mend({"Ask MinIO support whether your client library and server release do S3 over RDMA without DC on this NIC, and quote this finding. Waive s3.transport "
                   "with their answer if they confirm it; else plan ConnectX-4 or newer (AIStor recommends ConnectX-6) for S3 over RDMA", {}, {}, {}});
    } else if (with.empty()) {
        sourced(out.warn(node_subject(), fmt::format("{}: {}, no DC transport", list_of(without), list_of(limits))))
            .unproven("write MinIO's answer for your clients and release into attest.proven of the policy file")
            .because("The public S3 clients speak DC only. The server library can also serve RC, but with a handshake that no public MinIO client performs, so S3 over RDMA "
                     "from this node is not proven. Inter-node RDMA does not rest on it.")
            .mend({"Ask MinIO support whether your clients and server release do S3 over RDMA with this NIC, and quote this finding; waive s3.transport with their answer", {}, {}, {}});
    } else if (!without.empty() && facts.roles() & client) {
        sourced(out.warn(node_subject(), fmt::format("{} {} DC; {} {} not: {}", list_of(with), with.size() == 1 ? "has" : "have", list_of(without), without.size() == 1 ? "has" : "have", list_of(limits))))
            .because("A client that names no device opens every device with an active port, and the library refuses those without DC.")
            .mend({"Name the device for the client", {"export S3RDMA_DEVICE=" + fmt::format("{}", fmt::join(with, ","))}, {}, {"unset S3RDMA_DEVICE"}});
    } else {
        sourced(out.pass(node_subject(), fmt::format("{}: DC transport by mlx5_ib", list_of(with))));
    }
}

/// What the cuObject generation needs beside its library.
void judge_cuobject(const Facts& facts, Findings& out) {
    const S3ClientFacts& found = facts.s3_client();
    const CufileConfig& config = found.cufile;
    const Subject subject{"cuObject client", {}};
    const std::string source = fmt::format("{} ({})", config.path, config.origin), wanted = "properties.rdma_dev_addr_list names the addresses of this node's RDMA ports";
    // Beside libs3rdma nobody may use this generation any more.
    const Status worst = found.s3rdma() ? Status::warn : Status::fail;
    std::vector<std::string> own;
    for (const Port* port : facts.ports().storage())
        for (const PortAddress& address : port->addresses)
            if (routable(address.address)) own.push_back(address.address.address);
    const Remedy fill{"Fill the address list in " + config.path, {fmt::format("sudoedit {}   # \"rdma_dev_addr_list\": [\"{}\"]", shell_word(config.path), fmt::join(own, "\", \""))}, {}, {}};
    const std::string quiet = "An empty or missing list makes the client use HTTP without a word; only cufile.log knows.";

    if (config.addresses.unreadable() && worst == Status::warn) {
        out.warn(subject, config.addresses.why().cause).want(wanted).from(source).mend({"Look into it, if a client of this generation is used", {}, {}, {}});
        return;
    }
    if (config.addresses.unreadable()) {
        out.unknown(subject, config.addresses.why().cause, how_to_know(config.addresses.why())).want(wanted).from(source);
        return;
    }
    if (config.addresses.absent() || config.addresses->empty()) {
        const std::string what = !config.file ? "there is no " + config.path : config.addresses.absent() ? config.path + " has no rdma_dev_addr_list" : "rdma_dev_addr_list in " + config.path + " is empty";
        out.add(worst, subject, what).want(wanted).from(source).because(quiet).mend(fill);
        return;
    }
    std::vector<std::string> foreign;
    const auto& addresses = facts.ports().addresses;
    if (addresses.unreadable()) {
        out.unknown(subject, "the addresses of this node could not be read: " + addresses.why().cause, how_to_know(addresses.why())).want(wanted).from(source);
        return;
    }
    for (const std::string& address : *config.addresses)
        if (addresses && std::none_of(addresses->begin(), addresses->end(), [&](const Address& known) { return known.address == address; })) foreign.push_back(address);
    if (!foreign.empty()) {
        out.add(foreign.size() == config.addresses->size() ? worst : Status::warn, subject,
                fmt::format("rdma_dev_addr_list names {}, which {} no address of this node", list_of(foreign), foreign.size() == 1 ? "is" : "are"))
            .want(wanted).from(source).mend(fill);
        return;
    }
    const ClientLibrary& cufile = found.library("libcufile.so.0");
    const auto version = version_in(cufile.real);
    if (!cufile.found())
        out.add(worst, subject, "libcufile.so.0 is in none of the loader's folders").want("libcufile 1.18 or newer").from(fmt::format("{}", fmt::join(found.folders, ":"))).mend({"Install libcufile of the CUDA repository, 1.18 or newer", {}, {}, {}});
    else if (version && *version < oldest_cufile)
        out.warn(subject, fmt::format("{} is version {}.{}", cufile.real, version->first, version->second)).want("libcufile 1.18 or newer").from(cufile.path)
            .because("Frameworks bundle an older cuFile under the same name, and the first one loaded wins.")
            .mend({"Install libcufile 1.18 or newer, and load it first", {"export LD_PRELOAD=/usr/local/cuda/lib64/libcufile.so.0"}, {}, {"unset LD_PRELOAD"}});
    else
        out.pass(subject, fmt::format("{}, rdma_dev_addr_list {}", cufile.real, list_of(*config.addresses))).from(source);
}

/// Tokens changed with a server release; which one a client makes follows from its generation.
void judge_tokens(const Facts& facts, Findings& out) {
    const auto& release = facts.options().server_release;
    const Subject subject{"tokens", {}};
    if (!release) {
        out.skip(subject, "the server's release is not named (--server-release)");
        return;
    }
    const std::string date = release_date(*release);
    const S3ClientFacts& found = facts.s3_client();
    const std::string source = "--server-release " + *release, wanted = "client and server make the same token: 81 characters from release 2026-08-07 on";
    if (date < strict_tokens)
        out.warn(subject, fmt::format("server release {} is older than the first stable one with S3 over RDMA ({})", date, strict_tokens)).want(wanted).from(source)
            .mend({"Upgrade the servers to a stable release", {}, {}, {}});
    else if (!found.s3rdma())
        out.warn(subject, "this server rejects tokens longer than 81 characters; a cuObject client older than minio-cpp 0.5.0 makes one of 115").want(wanted).from(source)
            .because("The server answers such a request with status 500, and the client goes on over HTTP or ends.")
            .mend({"Use minio-cpp 0.6.0 or newer, with libs3rdma", {}, {}, {}});
    else out.pass(subject, "libs3rdma makes the tokens this release takes").from(source);
}

void judge_client(const Facts& facts, Findings& out) {
    const S3ClientFacts& found = facts.s3_client();
    const std::string folders = fmt::format("{}", fmt::join(found.folders, ":"));
    if (!found.s3rdma() && !found.cuobject()) {
        std::string why = "neither libs3rdma.so.0 nor libcuobjclient.so.1 is in the loader's folders";
        if (!found.unreadable.empty()) why += fmt::format(", of which some could not be read ({}: {})", found.unreadable.front().first, found.unreadable.front().second.error);
        out.unknown(node_subject(), why, "Set LD_LIBRARY_PATH as the job does and run the tool again (with sudo: sudo -E env LD_LIBRARY_PATH=...), or install the client library.")
            .want("a client library for S3 over RDMA").from(folders).note("folders", found.folders);
        return;
    }
    if (found.s3rdma()) {
        const ClientLibrary& library = found.library("libs3rdma.so.0");
        const Subject subject{"libs3rdma", {}};
        std::vector<std::string> missing;
        for (const char* name : {"libibverbs.so.1", "librdmacm.so.1", "libnuma.so.1"})
            if (!found.library(name).found()) missing.emplace_back(name);
        std::vector<std::string> install;
        for (const std::string& name : missing) install.push_back(facts.node().install(name.substr(0, name.find('.'))));
        if (!missing.empty() && found.unreadable.empty())
            out.fail(subject, fmt::format("{} loads {} at run time, and it is in none of the loader's folders", library.real, list_of(missing))).want("libibverbs, librdmacm and libnuma").from(folders)
                .because("ldd does not show these libraries, because libs3rdma opens them itself; without them it finds no device.")
                .mend({"Install what libs3rdma loads", install, {}, {}});
        else if (!missing.empty())
            out.unknown(subject, fmt::format("whether {} can be loaded is not known: {}: {}", list_of(missing), found.unreadable.front().first, found.unreadable.front().second.error), how_to_know(found.unreadable.front().second));
        else if (!library.shadowed.empty())
            out.warn(subject, fmt::format("{} is taken; {} has the same name", library.path, list_of(library.shadowed))).want("one libs3rdma.so.0").from(folders)
                .because("Which one a program takes depends on LD_LIBRARY_PATH and the loader's cache.")
                .mend({"Remove the one that is not meant, and refresh the loader's cache", {"sudo ldconfig"}, {}, {}});
        else out.pass(subject, library.real + "; it needs no configuration file").from(library.path);
    }
    if (found.cuobject()) judge_cuobject(facts, out);
    judge_tokens(facts, out);
}

/// The reason why an entry names nothing that can be used. Absent: it names something that is here.
Fact<std::string> mistake_of(const Facts& facts, const DeviceChoice& choice) {
    if (choice.kind == DeviceChoice::address) {
        const auto& addresses = facts.ports().addresses;
        if (!addresses) return addresses.as<std::string>();
        const bool link_local = choice.name.rfind("fe80", 0) == 0;
        if (link_local && choice.zone.empty()) return std::string("a link-local address needs its zone (%INTERFACE)");
        const auto known = std::find_if(addresses->begin(), addresses->end(), [&](const Address& address) { return address.address == choice.name; });
        if (known == addresses->end()) return std::string("no address of this node");
        for (const Port& port : facts.ports().all)
            for (const PortAddress& address : port.addresses)
                if (address.address.address == choice.name) return port.attachment() ? Fact<std::string>(Absent{}) : fmt::format("{} has no RDMA device", port.link.name);
        return std::string("not an address of an RDMA port");
    }
    const RdmaDeviceFacts* device = facts.rdma().find(choice.name);
    if (!device) {
        if (const Port* port = facts.ports().find(choice.name); port && port->attachment()) return fmt::format("that is the netdev; its RDMA device is {}", port->attachment()->device);
        return std::string(choice.name.find(':') == std::string::npos ? "no RDMA device of that name" : "not DEVICE:GID or DEVICE:PORT:GID within 0-255, so the library takes it whole for a device's name");
    }
    const int number = choice.port.value_or(1);
    const RdmaPort* port = device->port(number);
    if (!port) return fmt::format("{} has no port {}", choice.name, number);
    if (port->state != "ACTIVE") return fmt::format("port {} of {} is {}", number, choice.name, port->state);
    const auto gids = device->gids.find(number);
    if (!choice.gid) return Absent{};
    if (gids == device->gids.end() || gids->second.absent()) return Unreadable{"not-told", "the GID table of " + choice.name + " is not there"};
    if (!gids->second) return gids->second.why();
    const auto& list = gids->second->gids;
    const bool filled = std::any_of(list.begin(), list.end(), [&](const Gid& gid) { return gid.index == *choice.gid; });
    return filled ? Fact<std::string>(Absent{}) : fmt::format("GID {} of {} is empty", *choice.gid, choice.name);
}

void judge_device(const Facts& facts, Findings& out) {
    const auto value = facts.s3_client().variable("S3RDMA_DEVICE");
    const std::string source = "S3RDMA_DEVICE in the environment of this shell", wanted = "unset, or DEVICE, DEVICE:GID, DEVICE:PORT:GID or an address of an RDMA port";
    const Remedy unset{"Leave it unset, so that every active device is used, or name one that is here", {"unset S3RDMA_DEVICE"}, {}, {}};
    if (value.unreadable()) {
        out.unknown(node_subject(), "the environment of the shell could not be read: " + value.why().cause, how_to_know(value.why()));
        return;
    }
    const auto choices = parse_device_choice(value.value_or(""));
    if (choices.empty()) {
        out.pass(node_subject(), "unset: every device with an active port is opened").from(source);
        return;
    }
    if (facts.rdma().blind()) {
        out.unknown(node_subject(), "the RDMA devices could not be listed", "Run it where /sys is mounted.").want(wanted).from(source);
        return;
    }
    for (const DeviceChoice& choice : choices) {
        const Subject subject{choice.text, {}};
        if (choice.kind == DeviceChoice::wildcard)
            out.warn(subject, "opens every active device and wins over any device named beside it").want(wanted).from(source).mend(unset);
        else if (const auto mistake = mistake_of(facts, choice); mistake) out.fail(subject, *mistake).want(wanted).from(source).mend(unset);
        else if (mistake.unreadable()) out.unknown(subject, mistake.why().cause, how_to_know(mistake.why())).want(wanted).from(source);
        else out.pass(subject, choice.kind == DeviceChoice::device ? "an RDMA device of this node" : "an address of an RDMA port").from(source);
    }
}

void judge_memlock(const Facts& facts, Findings& out) {
    const ServiceFacts& service = facts.service();
    const bool unit = facts.options().service != "minio.service" && !service.absent();
    const auto& caller = facts.s3_client().caller;
    if (!unit && !caller) {
        out.unknown(node_subject(), "the limit of the shell could not be read: " + no_answer(caller), "Run `ulimit -l` as the job's user.");
        return;
    }
    const std::uint64_t soft = unit ? service.memlock.soft : caller->memlock.soft;
    const Subject subject{unit ? service.name : "this shell", {}};
    const std::string source = unit ? service.memlock.origin : "RLIMIT_MEMLOCK of the shell the tool was started from";
    const Remedy remedy = unit ? drop_in(service, "Lift the limit for the unit", "memlock.conf", {"[Service]", "LimitMEMLOCK=infinity"})
                               : Remedy{"Lift the limit for login shells (log in again), or run the job as a unit with LimitMEMLOCK=infinity",
                                        {"printf '* soft memlock unlimited\\n* hard memlock unlimited\\n' | sudo tee /etc/security/limits.d/90-rdma.conf"}, {}, {"sudo rm /etc/security/limits.d/90-rdma.conf"}};
    if (soft == infinity) out.pass(subject, unit ? "unlimited" : "unlimited; a job in a unit of its own has another limit (--service)").from(source);
    else
        out.warn(subject, fmt::format("{}: buffers in host memory beyond that cannot be registered", bytes_text(soft))).want("unlimited").from(source).mend(remedy)
            .note("limit", static_cast<std::int64_t>(soft));
}

}  // namespace

Module s3_module() {
    Module module{"s3", "S3 over RDMA", {}};
    const auto add = [&](Check check, unsigned roles) {
        check.paths = s3;
        check.roles = roles;
        module.checks.push_back(std::move(check));
    };
    module.checks.push_back(s3_server_check());
    Check transport = row('C', "s3.transport", "The device offers the transport S3 clients need", "S3 clients address their buffers by DC tokens, which only a device with the DC transport can make.",
            "pass: a storage port's device has DC (mlx5_ib). fail: a client without such a device. warn, leaving the outcome open: a storage node without one. warn: a client "
            "with devices of both kinds. pass: the policy attests it for this release and driver.",
            "Ask MinIO support about your release, and write the answer into attest.proven of the policy file; or plan ConnectX-4 or newer.",
            "public header of libs3rdma 0.3.0 in minio/minio-cpp; NVIDIA cuObject, technical specifications; Linux drivers/infiniband/hw", {"rdma.device"}, judge_transport);
    transport.unproven = true;
    add(std::move(transport), storage | client);
    add(row('C', "s3.endpoint", "The S3 endpoint is reachable from the RDMA address", "The client sends its HTTP request from the address of the RDMA port.",
            "pass: the route to --endpoint leaves by an RDMA port with an address of the same family, and it answers. fail: its name does not resolve, no route, no address of that "
            "family, no answer. warn: another interface, or nothing listens. skip: no --endpoint.",
            "Add a route, or reach the endpoint by its address in the storage network.", "minio-cpp: the socket is bound to the IPv4 address in the token's GID", {"nic.selected"}, judge_s3_endpoint), client);
    add(row('C', "s3.client", "The client libraries are usable", "A client without its library or configuration goes on over HTTP and says nothing.",
            "pass: libs3rdma with what it loads, or the cuObject generation with a filled cufile.json. fail: something of it is missing. warn: an old cuFile, two libraries of one "
            "name, tokens that the release in --server-release rejects. unknown: no library in the loader's folders.",
            "Install the library; fill rdma_dev_addr_list.", "minio-cpp 0.6.0 and its libs3rdma header; MinIO rdma-training; minio-cpp pull request 244", {}, judge_client), client);
    add(row('C', "s3.device", "S3RDMA_DEVICE names an existing device", "A name that is not there fails the open, and the client goes on over HTTP.",
            "pass: unset, or each entry names a device or address here. fail: one does not. warn: 0.0.0.0 or ::, which opens every device.", "Unset it, or name a device of `rdma link`.",
            "public header of libs3rdma; minio-rs pull requests 238 and 241", {"rdma.device"}, judge_device), client);
    add(row('C', "s3.memlock", "The client job may lock enough memory", "Registered buffers in host memory are charged against the limit of the job.",
            "pass: unlimited. warn: finite. It is the limit of the shell the tool was started from, or of the unit named with --service.", "limits.d for login shells, LimitMEMLOCK= for units.",
            "Linux drivers/infiniband/core/umem.c", {}, judge_memlock), client);
    return module;
}

}  // namespace preflight
