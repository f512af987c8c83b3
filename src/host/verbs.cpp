// The node's own libibverbs, loaded at run time: the library and the providers a service on this node would use.

#include <fcntl.h>
#include <fmt/format.h>
#include <infiniband/verbs.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <memory>

#include "host/decode.h"
#include "host/live.h"
#include "host/runtime_library.h"

namespace preflight::live {
namespace {

constexpr const char* library_name = "libibverbs.so.1";
constexpr std::size_t warning_lines = 64, warning_bytes = 300;

constexpr std::array transports{"IB", "iWARP", "usNIC", "usNIC UDP", "unspecified"};  // enum ibv_transport_type
constexpr std::array link_layers{"Unspecified", "InfiniBand", "Ethernet"};            // IBV_LINK_LAYER_*

template <std::size_t N>
std::string name_of(const std::array<const char*, N>& names, int number) {
    return number >= 0 && number < static_cast<int>(N) ? names[static_cast<std::size_t>(number)]
                                                       : fmt::format("{}", number);
}

/// enum ibv_mtu in bytes: 1 is 256, 5 is 4096.
unsigned mtu_bytes(int mtu) {
    return mtu >= IBV_MTU_256 && mtu <= IBV_MTU_4096 ? 128u << mtu : 0;
}

/// The exported functions. The library stays loaded: its providers cannot be taken back.
struct Library {
    ibv_device** (*get_device_list)(int*) = nullptr;
    void (*free_device_list)(ibv_device**) = nullptr;
    const char* (*get_device_name)(ibv_device*) = nullptr;
    ibv_context* (*open_device)(ibv_device*) = nullptr;
    int (*close_device)(ibv_context*) = nullptr;
    int (*query_device)(ibv_context*, ibv_device_attr*) = nullptr;
    // Behind the macro of that name; it fills the older, shorter form, which is how struct ibv_port_attr begins.
    int (*query_port)(ibv_context*, std::uint8_t, _compat_ibv_port_attr*) = nullptr;
    std::string path;

    /// The functions of `library`, or which of them it lacks.
    static Fact<Library> bind(RuntimeLibrary library) {
        Library bound;
        library.bind(bound.get_device_list, "ibv_get_device_list");
        library.bind(bound.free_device_list, "ibv_free_device_list");
        library.bind(bound.get_device_name, "ibv_get_device_name");
        library.bind(bound.open_device, "ibv_open_device");
        library.bind(bound.close_device, "ibv_close_device");
        library.bind(bound.query_device, "ibv_query_device");
        library.bind(bound.query_port, "ibv_query_port");
        if (const std::string trouble = library.trouble(); !trouble.empty()) return Unreadable{"ELIBACC", trouble};
        bound.path = library.path();
        return bound;
    }
};

/// While it lives, what anything in this process writes to stderr goes to memory.
class StderrCapture {
public:
    StderrCapture() : memory_(memfd_create("stderr", MFD_CLOEXEC)) {
        if (memory_ < 0) return;
        std::fflush(stderr);
        saved_ = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
        captured_ = dup2(memory_, STDERR_FILENO) >= 0;
    }
    ~StderrCapture() {
        restore();
        if (memory_ >= 0) close(memory_);
    }
    StderrCapture(const StderrCapture&) = delete;
    StderrCapture& operator=(const StderrCapture&) = delete;

    std::vector<std::string> lines() {
        restore();
        std::vector<std::string> list;
        std::unique_ptr<FILE, int (*)(FILE*)> text(memory_ < 0 ? nullptr : fdopen(memory_, "r"), std::fclose);
        if (!text) return list;
        memory_ = -1;
        std::rewind(text.get());
        std::string line;
        for (int c = std::getc(text.get()); list.size() < warning_lines; c = std::getc(text.get())) {
            if (c != '\n' && c != EOF) {
                if (line.size() < warning_bytes) line += static_cast<char>(c);
                continue;
            }
            if (!line.empty()) list.push_back(std::move(line));
            line.clear();
            if (c == EOF) break;
        }
        return list;
    }

private:
    void restore() {
        if (!captured_) return;
        std::fflush(stderr);
        if (saved_ >= 0) dup2(saved_, STDERR_FILENO);
        else close(STDERR_FILENO);
        if (saved_ >= 0) close(saved_);
        captured_ = false;
    }

    int memory_;
    int saved_ = -1;
    bool captured_ = false;
};

Unreadable refused(const char* call, const std::string& device, int error) {
    return {errno_name(error), fmt::format("{} of {}: {}", call, device, std::strerror(error))};
}

VerbsPort port(int number, const ibv_port_attr& attributes) {
    VerbsPort result;
    result.port = number;
    result.state = decode::rdma_port_state(attributes.state);
    result.active_mtu = mtu_bytes(attributes.active_mtu);
    result.max_mtu = mtu_bytes(attributes.max_mtu);
    result.lid = attributes.lid;
    result.link_layer = name_of(link_layers, attributes.link_layer);
    result.gid_table_length = attributes.gid_tbl_len;
    return result;
}

VerbsDevice device(const Library& library, ibv_device* from) {
    VerbsDevice result;
    result.name = library.get_device_name(from);
    result.transport = name_of(transports, from->transport_type);
    errno = 0;
    const std::unique_ptr<ibv_context, int (*)(ibv_context*)> context(library.open_device(from), library.close_device);
    if (!context) {
        result.opened = refused("ibv_open_device", result.name, errno ? errno : EIO);
        return result;
    }
    ibv_device_attr attributes{};
    if (const int error = library.query_device(context.get(), &attributes)) {
        result.opened = refused("ibv_query_device", result.name, error > 0 ? error : EIO);
        return result;
    }
    result.opened = 1u;
    result.vendor_id = attributes.vendor_id;
    result.vendor_part_id = attributes.vendor_part_id;
    result.firmware = std::string(attributes.fw_ver, strnlen(attributes.fw_ver, sizeof attributes.fw_ver));
    result.max_qp = static_cast<unsigned>(attributes.max_qp);
    result.max_cqe = static_cast<unsigned>(attributes.max_cqe);
    result.max_mr_size = attributes.max_mr_size;
    result.max_srq = static_cast<unsigned>(attributes.max_srq);
    result.max_sge = static_cast<unsigned>(attributes.max_sge);
    for (int number = 1; number <= attributes.phys_port_cnt; ++number) {
        ibv_port_attr of_port{};
        const int error = library.query_port(context.get(), static_cast<std::uint8_t>(number),
                                             reinterpret_cast<_compat_ibv_port_attr*>(&of_port));
        if (error) result.opened = refused("ibv_query_port", result.name, error > 0 ? error : EIO);
        else result.ports.push_back(port(number, of_port));
    }
    return result;
}

}  // namespace

Fact<Verbs> verbs() {
    for (const auto& loaded : {rdma_subsystem(), rdma_uverbs()}) {
        if (loaded.absent())
            return Unreadable{"ENOSYS",
                              "libibverbs: the kernel has no RDMA subsystem loaded (" + loaded.gone().detail + ")"};
        if (loaded.unreadable()) return loaded.as<Verbs>();
    }
    const Fact<Library> library = RuntimeLibrary::load(library_name).then(Library::bind);
    if (!library.has()) return library.as<Verbs>();

    Verbs result;
    result.library = library->path;
    StderrCapture capture;
    int count = 0;
    errno = 0;
    ibv_device** list = library->get_device_list(&count);
    if (!list) {
        const int error = errno ? errno : EIO;
        const auto said = capture.lines();
        return Unreadable{errno_name(error), fmt::format("ibv_get_device_list: {}{}{}", std::strerror(error),
                                                         said.empty() ? "" : ": ", said.empty() ? "" : said.front())};
    }
    for (int i = 0; i < count; ++i) result.devices.push_back(device(*library, list[i]));
    library->free_device_list(list);
    result.warnings = capture.lines();
    return result;
}

}  // namespace preflight::live
