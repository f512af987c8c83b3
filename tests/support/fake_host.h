#pragma once
// A node built in code. Every answer passes through the JSON form of a snapshot, as on the real way. It starts healthy;
// a test changes single answers and says what must follow.

#include <map>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "host/answer.h"
#include "preflight/engine.h"
#include "preflight/host.h"

namespace preflight {

/// A port of the node with all that hangs on it. No `rdma`: a NIC without an RDMA device.
struct FakePort {
    std::string netdev;
    int index = 0;
    std::string pci;
    unsigned vendor = 0, device = 0;
    std::string driver;
    std::string rdma;
    unsigned driver_id = 0;  ///< enum rdma_driver_id
    std::string address;     ///< IPv4; empty: none
    unsigned max_srq = 0;
};

class FakeHost : public Host {
public:
    /// What a question answers that nobody set: "not there" for files, "not-captured" for all else.
    std::map<Question, Fact<Json>> answers;

    template <class T>
    void set(const std::string& kind, const std::string& argument, const T& value) {
        answers[{kind, argument}] = Json(value);
    }
    void text(const std::string& path, const std::string& content) { answers[{"read", path}] = text_to_json(content); }
    void absent(const std::string& kind, const std::string& argument, const std::string& detail = {}) { answers[{kind, argument}] = Absent{detail}; }
    void unreadable(const std::string& kind, const std::string& argument, const std::string& error) {
        answers[{kind, argument}] = Unreadable{error, kind + " " + argument};
    }
    /// Changes the answer in place; the question must have a value.
    template <class T, class Change>
    void edit(const std::string& kind, const std::string& argument, Change change) {
        T value = (*answers.at({kind, argument})).get<T>();
        change(value);
        set(kind, argument, value);
    }

    void add_port(const FakePort& port);
    void add_pci(const std::string& address, unsigned class_code, unsigned vendor, unsigned device, const std::string& driver = {});
    /// Hangs a function of the node below these bridges, from the host bridge ("pci0000:15") down.
    void place(const std::string& address, const std::string& root, const std::vector<std::string>& bridges, int numa_node = 0);
    /// An NVIDIA GPU with the nvidia driver and a BAR1 of 128 GiB.
    void add_gpu(const std::string& address, const std::string& root, const std::vector<std::string>& bridges, int numa_node = 0);
    /// A bridge with this ACS Control register, or without the capability.
    void add_bridge(const std::string& address, std::optional<unsigned> acs);
    /// A shared library below a folder, under its SONAME, as a link to `file`.
    void add_library(const std::string& folder, const std::string& name, const std::string& file);
    /// Takes the RDMA device away from kernel, sysfs and verbs.
    void drop_rdma(const std::string& device);
    void drop_verbs(const std::string& device);
    /// A VLAN with id 100 and MTU 9000, up, over the interface with index `lower`.
    void add_vlan(const std::string& name, int index, int lower);
    /// Puts a bond over ports that are there; their addresses move to it, and GIDs with them.
    void add_bond(const std::string& name, int index, const std::string& mode, const std::vector<std::string>& members);
    void unload(const std::string& module);
    void blacklist(const std::string& argument);

    template <class Change>
    void link(const std::string& name, Change change) {
        edit<std::vector<Link>>("links", "", [&](std::vector<Link>& links) {
            for (Link& known : links)
                if (known.name == name) change(known);
        });
    }
    template <class Change>
    void rdma_device(const std::string& name, Change change) {
        edit<std::vector<RdmaDevice>>("rdma_devices", "", [&](std::vector<RdmaDevice>& devices) {
            for (RdmaDevice& known : devices)
                if (known.name == name) change(known);
        });
    }
    template <class Change>
    void verbs_device(const std::string& name, Change change) {
        edit<Verbs>("verbs", "", [&](Verbs& verbs) {
            for (VerbsDevice& known : verbs.devices)
                if (known.name == name) change(known);
        });
    }
    template <class Change>
    void devlink_device(const std::string& pci, Change change) {
        edit<std::vector<DevlinkDevice>>("devlink", "", [&](std::vector<DevlinkDevice>& devices) {
            for (DevlinkDevice& known : devices)
                if (known.device == pci) change(known);
        });
    }
    /// A second reading of --sample: as the first until a test edits it ({"links", "@1"}, {"rdma_devices", "@1"}).
    void sample_again();
    /// A minio.service that runs as this account, and the account.
    void add_service(const User& user);
    void set_addresses(const std::string& netdev, const std::vector<std::string>& addresses);

protected:
    Answer answer(const Question& question) override;

private:
    int index_of(const std::string& netdev);
};

Gid roce_gid(int index, const std::string& gid, const std::string& netdev, const std::string& type = "RoCE v2");
/// The GID of an IPv4 address as sysfs prints it.
std::string ipv4_gid(const std::string& address);

/// A running kernel with modules, no NIC but loopback.
FakeHost bare_node();
/// Two E810 ports, ens1f0np0 (192.0.2.11) and ens1f1np1 (198.51.100.11), and a management NIC eno1.
FakeHost e810_node();
/// The same with two ports of one ConnectX-6 Dx.
FakeHost mlx5_node();

/// A client: mlx5_node() with one GPU below the same switch as both ports (bridges 0000:17:00.0 and 0000:17:01.0), open driver 570 and
/// nvidia_peermem of an RDMA stack that has the peer-memory API.
FakeHost gpu_node();
/// 4096 bytes of a PCI Express function with an AER capability and, after it, ACS with this control register.
PciConfig pcie_config(std::optional<unsigned> acs);

inline void PrintTo(Status status, std::ostream* out) { *out << name(status); }

/// What platform, nic and rdma find.
Report judged(FakeHost& host, Options options = {});
/// Findings of one check, in order of subject.
std::vector<Finding> found(const Report& report, std::string_view id);
/// The only finding of a check; fails the test when there are more or none.
Finding only(const Report& report, std::string_view id);
/// The finding of a check about that subject; fails the test when there is none.
Finding about(const Report& report, std::string_view id, const std::string& subject);
/// "nic.link ens1f0np0 fail" of each failed, unknown or blocked finding, for messages and comparison.
std::vector<std::string> complaints(const Report& report);
Options interfaces(std::vector<std::string> names);
/// With --sample 60, without the wait.
Options sampling(Options options);

}  // namespace preflight
