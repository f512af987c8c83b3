#include "text.h"

namespace preflight {

Check row(char phase, std::string_view id, std::string_view title, std::string_view why, std::string_view judges, std::string_view remedy,
          std::string_view evidence, std::vector<std::string_view> after, std::function<void(const Facts&, Findings&)> judge) {
    Check check{};
    check.id = id;
    check.phase = phase;
    check.title = title;
    check.why = why;
    check.judges = judges;
    check.remedy = remedy;
    check.evidence = evidence;
    check.after = std::move(after);
    check.judge = std::move(judge);
    return check;
}

std::string list_of(const std::vector<std::string>& items) {
    std::string text;
    for (std::size_t i = 0; i < items.size(); ++i) text += (i == 0 ? "" : i + 1 == items.size() ? " and " : ", ") + items[i];
    return text;
}

std::string how_to_read_again(const Unreadable& why) {
    return why.error == "not-captured" ? "Capture the snapshot with --sample." : how_to_know(why);
}

std::string how_to_know(const Unreadable& why) {
    if (why.error == "EACCES" || why.error == "EPERM") return "Run the tool as root.";
    if (why.error == "not-captured") return "Capture a new snapshot with this version.";
    return "Read it by hand, or run again: " + why.cause + ".";
}

std::vector<const Port*> ports_to_judge(const Facts& facts, Findings& out) {
    const Ports& ports = facts.ports();
    auto storage = ports.storage();
    if (storage.empty()) {
        if (ports.links.unreadable()) out.unknown(node_subject(), "the network interfaces could not be read: " + ports.links.why().cause, how_to_know(ports.links.why()));
        else out.unknown(node_subject(), "no storage port is known", "Name the storage interfaces with --interface.");
    }
    return storage;
}

bool backup_member(const Port& port) {
    return port.bond && port.bond->bond && port.bond->bond->active_port && *port.bond->bond->active_port != port.link.index;
}

const RdmaDeviceFacts* device_of(const Facts& facts, const Port& port) {
    const RdmaAttachment* attached = port.attachment();
    return attached ? facts.rdma().find(attached->device) : nullptr;
}

}  // namespace preflight
