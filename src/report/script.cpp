#include "report/script.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string_view>

#include "report/plan.h"
#include "report/wrap.h"
#include "version.h"

namespace preflight {
namespace {

constexpr int width = 100;

/// What a command takes away while it runs, by its beginning (behind sudo). Linux 6.12: a DCB write rebuilds the port's queues, and
/// irdma suspends its queue pairs meanwhile (ice_dcb_lib.c, irdma_dcb in drivers/infiniband/hw/irdma/main.c).
struct Interruption {
    std::string_view begin, what;
};
constexpr Interruption interruptions[] = {
    {"dcb ", "the port stops for a moment, and RDMA queue pairs on it are suspended"},
    {"ethtool --set-priv-flags", "the port may lose its link for some seconds"},
    {"ethtool -A", "the port renegotiates its link"},
    {"ip link set", "traffic on that interface"},
    {"ip link delete", "traffic on that interface"},
    {"sh -c 'modprobe -r irdma ice", "all links of the driver's NICs, and their RDMA connections"},
    {"sh -c 'devlink dev reload", "all traffic of the card"},
    {"systemd-run", "all links that its command takes down, this session's among them"},
    {"modprobe -r", "all RDMA connections of the devices of that driver"},
    {"rdma link delete", "RDMA connections of that device"},
    {"rdma system set", "needs that no other network namespace uses RDMA"},
    {"devlink dev param set", "the port's RDMA device is made anew"},
    {"devlink dev reload", "all traffic of the card"},
    {"systemctl restart", "the service, until it is up again"},
};

/// Commands that only show something.
constexpr std::string_view looking[] = {"aistor-rdma-check", "cat ", "dmesg", "devlink dev info", "devlink dev show", "ethtool -m", "getent", "grep ", "ip -", "ip route get", "ip rule show",
                                        "journalctl", "ls ", "lspci", "nft -a list", "ping ", "ps ", "rdma link show", "rdma system show", "rpm -q", "dpkg -S", "systemctl show", "systemctl list-unit-files",
                                        "systemctl cat", "systemctl status", "systemd-analyze", "grubby --info"};

/// Commands in which a person takes part.
constexpr std::string_view editing[] = {"sudoedit", "systemctl edit", "visudo"};

template <class List>
bool begins_with_one(std::string_view command, const List& list) {
    return std::any_of(std::begin(list), std::end(list), [&](std::string_view begin) { return command.substr(0, begin.size()) == begin; });
}

std::string_view without_sudo(std::string_view command) {
    return command.substr(0, 5) == "sudo " ? command.substr(5) : command;
}

/// "ethtool ens1f0np0": a command with nothing but a name.
bool only_a_name(std::string_view command) {
    return command.substr(0, 8) == "ethtool " && command.find(" -") == std::string_view::npos;
}

/// A word in capitals, such as ADDRESS in "ADDRESS/PREFIX", stands for what only the operator knows.
bool has_gap(std::string_view command) {
    std::size_t begin = 0;
    const auto ends_word = [](char c) { return c == ' ' || c == '/' || c == ','; };
    for (std::size_t i = 0; i <= command.size(); ++i) {
        if (i < command.size() && !ends_word(command[i])) continue;
        const std::string_view word = command.substr(begin, i - begin);
        begin = i + 1;
        if (word.size() >= 4 && std::isupper(static_cast<unsigned char>(word[0])) &&
            std::all_of(word.begin(), word.end(), [](unsigned char c) { return std::isupper(c) || c == '-'; }))
            return true;
    }
    return false;
}

std::string quoted_line(std::string_view text) {
    std::string quoted = "'";
    for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return quoted + "'";
}

/// Whether a name of this node holds what a shell would act on. Interfaces may be called nearly anything.
bool names_are_harmless(const Report& report) {
    const auto harmless = [](const std::string& name) { return name.find_first_of("$;&|<>`\"'\\!*?#~\n") == std::string::npos; };
    return std::all_of(report.findings.begin(), report.findings.end(), [&](const Finding& finding) {
        return harmless(finding.subject.text) && std::all_of(finding.subject.keys.begin(), finding.subject.keys.end(), harmless);
    }) && report.chain.find_first_of("$;&`\"'\\!") == std::string::npos;
}

class Script {
public:
    explicit Script(const Report& report) : report_(report), harmless_(names_are_harmless(report)) {}

    std::string text() {
        head();
        int number = 0;
        for (const Finding* finding : plan_steps(report_)) step(++number, *finding);
        if (number == 0) comment("", "Nothing to mend.");
        return std::move(out_);
    }

private:
    void line(std::string_view text = {}) { out_.append(text).append("\n"); }

    /// Text as a comment, however many lines it has: nothing of it can leave the comment.
    void comment(std::string_view lead, std::string_view text) {
        std::string plain(text);
        for (char& c : plain)
            if (std::iscntrl(static_cast<unsigned char>(c)) && c != '\n') c = '?';
        std::string rest = wrap(plain, width, 2 + static_cast<int>(lead.size()), 2 + static_cast<int>(lead.size()));
        std::string prefix = std::string("# ").append(lead);
        std::size_t begin = 0;
        do {
            const auto end = rest.find('\n', begin);
            std::string part = rest.substr(begin, end == std::string::npos ? end : end - begin);
            part.erase(0, part.find_first_not_of(' '));
            line(prefix + part);
            prefix = "# " + std::string(lead.size(), ' ');
            begin = end == std::string::npos ? end : end + 1;
        } while (begin != std::string::npos);
    }

    void raw_comment(std::string_view title, const std::vector<std::string>& commands) {
        if (commands.empty()) return;
        comment("", title);
        for (const std::string& command : commands) {
            std::string text = "#     " + command;
            for (std::size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', at + 1)) text.insert(at + 1, "#     ");
            line(text);
        }
    }

    void head() {
        line("#!/bin/bash");
        comment("", fmt::format("What {} {} would do on {}, judged {}. Read it, then run it there as root.", tool_name, tool_version, report_.node.hostname, report_.run.started));
        comment("", "It stops at the first command that fails. Commented lines are for you to decide.");
        if (!harmless_) comment("", "A name on this node holds characters that a shell acts on: all commands are left to you.");
        line("# shellcheck disable=SC2016 # the dollars in single quotes are systemd's");
        line("set -euo pipefail");
        line();
        line(fmt::format("if [ \"$(cat /proc/sys/kernel/hostname)\" != {} ]; then", quoted_line(report_.node.hostname)));
        line(fmt::format("    echo {} >&2", quoted_line("this script is for " + report_.node.hostname)));
        line("    exit 1");
        line("fi");
        line("if [ \"$(id -u)\" != 0 ]; then");
        line("    echo 'run it as root' >&2");
        line("    exit 1");
        line("fi");
    }

    void step(int number, const Finding& finding) {
        const Remedy& remedy = finding.remedy;
        line();
        const std::string name = finding.subject.whole_node() ? std::string(finding.id) : fmt::format("{} ({})", finding.id, finding.subject.text);
        comment("", fmt::format("{}. {}, {}: {}", number, name, preflight::name(finding.status), finding.observed));
        comment("   ", remedy.summary);
        const bool optional = finding.status == Status::warn;
        std::vector<std::string> by_hand, looks, run;
        for (const std::string& command : remedy.commands) {
            const std::string_view bare = without_sudo(command);
            if (command.empty() || command[0] == '#') by_hand.push_back(command);
            else if (begins_with_one(bare, looking) || only_a_name(bare)) looks.push_back(command);
            else if (optional || !harmless_ || has_gap(bare) || begins_with_one(bare, editing)) by_hand.push_back(command);
            else run.push_back(command);
        }
        for (const Interruption& one : interruptions)
            for (const std::string& command : remedy.commands)
                if (command.find(one.begin) != std::string::npos && !(begins_with_one(without_sudo(command), looking))) {
                    comment("", fmt::format("Interrupts: {}.", one.what));
                    break;
                }
        if (!run.empty()) line(fmt::format("echo {}", quoted_line(fmt::format("{}. {}: {}", number, name, remedy.summary))));
        for (const std::string& command : run) line(command);
        raw_comment("To look at it:", looks);
        raw_comment(optional ? "A warning only; where you want it:" : "By hand:", by_hand);
        raw_comment("To keep it over a reboot:", remedy.persist);
        raw_comment("To take it back:", remedy.undo);
    }

    const Report& report_;
    const bool harmless_;
    std::string out_;
};

}  // namespace

std::string to_script(const Report& report) {
    return Script(report).text();
}

}  // namespace preflight
