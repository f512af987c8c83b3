#pragma once
// The JSON form of an answer, and how each typed answer is written and read. This is the whole snapshot format below
// "answers": a value stands as itself, an absence as null or {"absent": detail}, a failure as {"error": errno, "cause": text}.

#include <nlohmann/json.hpp>
#include <optional>

#include "preflight/host.h"

namespace preflight {

using Json = nlohmann::json;

struct Answer {
    Fact<Json> fact;
};

/// Writes text that may hold any bytes: itself when it is UTF-8, else {"base64": "…"}.
Json text_to_json(const std::string& text);
/// Reads what text_to_json wrote; throws Json::exception when it is neither.
std::string text_from_json(const Json& json);

}  // namespace preflight

namespace nlohmann {

template <class T>
struct adl_serializer<std::optional<T>> {
    static void to_json(json& j, const std::optional<T>& value) {
        if (value) j = *value;
        else j = nullptr;
    }
    static void from_json(const json& j, std::optional<T>& value) {
        if (j.is_null()) value.reset();
        else value = j.get<T>();
    }
};

template <class T>
struct adl_serializer<preflight::Fact<T>> {
    static void to_json(json& j, const preflight::Fact<T>& fact) {
        if (fact.has()) j = *fact;
        else if (fact.unreadable()) j = json{{"error", fact.why().error}, {"cause", fact.why().cause}};
        else if (fact.gone().detail.empty()) j = nullptr;
        else j = json{{"absent", fact.gone().detail}};
    }
    static void from_json(const json& j, preflight::Fact<T>& fact) {
        if (j.is_null()) fact = preflight::Absent{};
        else if (j.is_object() && j.size() == 1 && j.contains("absent") && j["absent"].is_string())
            fact = preflight::Absent{j["absent"].get<std::string>()};
        else if (j.is_object() && j.size() == 2 && j.contains("error") && j.contains("cause"))
            fact = preflight::Unreadable{j["error"].get<std::string>(), j["cause"].get<std::string>()};
        else fact = j.get<T>();
    }
};

}  // namespace nlohmann

namespace preflight {

// A member that a snapshot leaves out keeps its default; an unknown member is ignored.
#define PREFLIGHT_JSON(Type, ...) NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(Type, __VA_ARGS__)
PREFLIGHT_JSON(FileInfo, type, mode, uid, gid, size, modified, access_list)
PREFLIGHT_JSON(Node, hostname, kernel, architecture, system, pointer_bits, effective_uid, capabilities, started)
PREFLIGHT_JSON(Bond, mode, active_port, xmit_hash_policy, lacp_rate, aggregator, aggregator_ports, partner_mac)
PREFLIGHT_JSON(BondPort, state, mii_status, aggregator)
PREFLIGHT_JSON(Vlan, id, protocol, egress, ingress)
PREFLIGHT_JSON(Link, index, name, altnames, arphrd, flags, operstate, mtu, carrier, carrier_changes, mac, permanent_mac, kind, master,
               lower, parent_bus, parent_device, bond, bond_port, vlan)
PREFLIGHT_JSON(Address, link, address, prefix, scope, flags)
PREFLIGHT_JSON(Route, type, link, source, gateway, table)
PREFLIGHT_JSON(EthtoolDriver, driver, version, firmware, bus)
PREFLIGHT_JSON(EthtoolPause, autoneg, rx, tx)
PREFLIGHT_JSON(EthtoolChannels, max_rx, max_tx, max_combined, rx, tx, combined)
PREFLIGHT_JSON(EthtoolSpeed, mbits)
PREFLIGHT_JSON(DcbEts, willing, tcs, cbs, tx_bandwidth, tsa, priority_tc)
PREFLIGHT_JSON(DcbPfc, capable, enabled, macsec_bypass, delay, requests, indications)
PREFLIGHT_JSON(DcbApp, selector, priority, protocol)
PREFLIGHT_JSON(DcbBuffer, priority_buffer, size, total)
PREFLIGHT_JSON(Dcb, dcbx, ets, pfc, apps, buffer, trust)
PREFLIGHT_JSON(DevlinkInfo, driver, serial, fixed, running, stored)
PREFLIGHT_JSON(DevlinkParam, name, generic, mode, value)
PREFLIGHT_JSON(DevlinkHealth, reporter, healthy, errors, recoveries)
PREFLIGHT_JSON(DevlinkDevice, bus, device, info, parameters, health)
PREFLIGHT_JSON(RdmaPort, port, state, physical_state, netdev, netdev_name)
PREFLIGHT_JSON(RdmaChardev, name, driver_id)
PREFLIGHT_JSON(RdmaDevice, index, name, firmware, node_guid, node_type, protocol, ports, uverbs)
PREFLIGHT_JSON(RdmaResource, kind, number, pid, kernel_user, type, state, source, destination, length)
PREFLIGHT_JSON(Gid, index, gid, type, netdev)
PREFLIGHT_JSON(GidTable, length, gids, unreadable)
PREFLIGHT_JSON(VerbsPort, port, state, active_mtu, max_mtu, lid, link_layer, gid_table_length)
PREFLIGHT_JSON(VerbsDevice, name, transport, opened, vendor_id, vendor_part_id, firmware, max_qp, max_cqe, max_mr_size, max_srq,
               max_sge, ports)
PREFLIGHT_JSON(Verbs, library, warnings, devices)
PREFLIGHT_JSON(VersionNeed, library, version)
PREFLIGHT_JSON(Elf, machine, bits, kind, interpreter, soname, needed, rpath, runpath, no_default_folders, version_needs, versions, capabilities, go_version,
               go_build, marks, releases, searched)
PREFLIGHT_JSON(CachedLibrary, path, machine, level, other_levels)
PREFLIGHT_JSON(User, name, uid, gid, home, shell, groups)
PREFLIGHT_JSON(MemlockLimit, soft, hard)
PREFLIGHT_JSON(FileLine, line, text)
PREFLIGHT_JSON(Caller, ssh_peer, environment, memlock)
PREFLIGHT_JSON(Process, pid, name, executable, arguments, environment, cgroup, root, namespaces, started, uid, capabilities, pinned, pids, uid_map,
               memlock)
PREFLIGHT_JSON(Processes, own_namespaces, hidden, servers)
PREFLIGHT_JSON(ExecResult, program, code, status)
PREFLIGHT_JSON(LoadedUnit, id, load_state, load_error, active_state, sub_state, result, restarts, main, start_pre, fragment, user, group, type, drop_ins, need_daemon_reload, main_pid, exec_start,
               environment, environment_files, pass_environment, unset_environment, memlock_soft, memlock_hard, dynamic_user,
               ambient_capabilities, bounding_set, memory_max, assert_result, condition_result, sandbox)
PREFLIGHT_JSON(ServiceManager, version, environment, memlock_soft)
PREFLIGHT_JSON(TcpProbe, outcome, elapsed_ms, error, icmp)
PREFLIGHT_JSON(ListeningSocket, address, port, uid, pid, comm, executable)
#undef PREFLIGHT_JSON

/// {"size": 4096, "rows": {"150": "0d 00 01 …"}}: 16 bytes a row as `lspci -xxxx` prints them, rows of zeros left out.
void to_json(Json& json, const PciConfig& config);
void from_json(const Json& json, PciConfig& config);

}  // namespace preflight
