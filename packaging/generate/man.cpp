#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "generate.h"
#include "preflight/check.h"
#include "report/schema.h"
#include "version.h"

namespace generate {
namespace {

/// Text for roff: no request at a line's start, no escape by accident.
std::string roff(std::string_view text) {
    std::string out;
    bool start = true;
    for (const char c : text) {
        if (start && (c == '.' || c == '\'')) out += "\\&";
        if (c == '\\') out += "\\e";
        else if (c == '-') out += "\\-";
        else out += c;
        start = c == '\n';
    }
    return out;
}

/// A section, and the paragraph that opens it.
std::string heading(std::string_view text, std::string_view lead = "") { return fmt::format(".SH {}\n{}{}", text, roff(lead), lead.empty() ? "" : "\n"); }
std::string paragraph(std::string_view text) { return fmt::format(".PP\n{}\n", roff(text)); }
std::string item(std::string_view label, std::string_view text) { return fmt::format(".TP\n.B {}\n{}\n", roff(label), roff(text)); }
std::string verbatim(std::string_view text) { return fmt::format(".PP\n.RS 4\n.nf\n{}\n.fi\n.RE\n", roff(text)); }

std::string title(const char* name, int section) {
    std::string upper(name);
    std::transform(upper.begin(), upper.end(), upper.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    return fmt::format(".\\\" Generated from the program's own tables; changes here are lost.\n.TH {} {} \"\" \"{} {}\"\n.nh\n.ad l\n", roff(upper), section,
                       preflight::tool_name, preflight::tool_version);
}

std::string option_text(const Option& option) {
    std::string label;
    for (const std::string& name : option.names) label += fmt::format("{}\\fB{}\\fR", label.empty() ? "" : ", ", roff(name));
    if (!option.choices.empty()) label += fmt::format(" {}{}", roff(fmt::format("{}", fmt::join(option.choices, "|"))), option.list ? ",..." : "");
    else if (!option.positional && !option.argument.empty()) label += fmt::format(" \\fI{}\\fR{}", roff(option.argument), option.list ? ",..." : "");
    return fmt::format(".TP\n{}\n{}{}\n", label, roff(option.help), option.limits.empty() ? "" : "; from " + roff(option.limits));
}

bool same(const Option& a, const Option& b) { return a.names == b.names && a.help == b.help; }

std::string options_text() {
    const auto commands = command_line();
    const Command& run = commands.front();
    std::string out;
    for (const Command& command : commands) {
        if (command.options.empty()) continue;
        std::string own;
        std::vector<std::string> shared;
        for (const Option& option : command.options) {
            const bool of_run = std::any_of(run.options.begin(), run.options.end(), [&](const Option& one) { return same(one, option); });
            if (&command != &run && of_run) shared.push_back(option.names.back());
            else own += option_text(option);
        }
        out += fmt::format(".SS Options of {}\n{}", roff(command.name), own);
        if (!shared.empty()) out += fmt::format("{}: {}\n", own.empty() ? "As with run" : ".PP\nAnd as with run", roff(fmt::format("{}", fmt::join(shared, ", "))));
    }
    return out;
}

std::string catalogue() {
    std::string out;
    for (const preflight::Module& module : preflight::catalogue()) {
        out += fmt::format(".SS {}\n{}\n", roff(module.name), roff(module.about));
        for (const preflight::Check& check : module.checks) out += fmt::format(".TP\n\\fB{}\\fR (phase {})\n{}.\n{}\n", roff(check.id), check.phase, roff(check.title), roff(check.why));
    }
    return out;
}

using Json = nlohmann::ordered_json;

/// One line on what a member takes, from its schema.
std::string takes(const Json& member, const Json& definitions) {
    if (member.contains("$ref")) {
        const std::string name = member["$ref"].get<std::string>().substr(8);
        const std::string own = member.value("description", "");
        return fmt::format("{}{}", own.empty() ? "" : own + "; ", definitions[name].contains("pattern") ? "a date like 2026-12-31" : "a text");
    }
    std::string out = member.value("description", "");
    if (member.contains("minimum")) out += fmt::format("; {} to {}", member["minimum"].get<long>(), member["maximum"].get<long>());
    if (member.contains("enum")) out += fmt::format("; one of {}", fmt::join(member["enum"].get<std::vector<std::string>>(), ", "));
    return out;
}

std::string members(const Json& object, const std::string& place, const Json& definitions) {
    std::string out;
    const auto required = object.value("required", std::vector<std::string>());
    for (const auto& [name, member] : object["properties"].items()) {
        const bool needed = std::find(required.begin(), required.end(), name) != required.end();
        out += fmt::format(".TP\n\\fB{}{}\\fR{}\n{}.\n", roff(place), roff(name), needed ? " (required)" : "", roff(takes(member, definitions)));
    }
    return out;
}

}  // namespace

std::string man_program() {
    std::string out = title("aistor-rdma-check", 8);
    out += heading("NAME") + "aistor\\-rdma\\-check \\- tells whether a MinIO AIStor node will really use RDMA, and if not, why\n";
    out += heading("SYNOPSIS");
    out += ".B aistor\\-rdma\\-check\n.RI [ command ]\n.RI [ options ]\n";
    out += heading("DESCRIPTION",
        "RDMA in AIStor fails silently: a misconfigured node starts, serves, and uses TCP. This program looks at every link of the chain, from the PCI "
        "function to the environment of the service, and says what will happen at the next start. It changes nothing on the node and starts no other "
        "program. What it could not see is unknown, never pass. As an ordinary user it sees less and says so; run it as root.");
    out += heading("COMMANDS");
    for (const Command& command : command_line()) out += item(command.name, command.help + ".");
    out += heading("OPTIONS") + options_text();
    out += heading("STATUS OF A FINDING");
    for (const auto& [status, means] : {std::pair("pass", "Looked at and right."), std::pair("warn", "Works, but a person should know."),
                                        std::pair("fail", "RDMA will not be used, or will collapse under load."),
                                        std::pair("unknown", "Needed, but could not be determined; says how to make it knowable."),
                                        std::pair("skip", "Does not apply here, or was not asked for."),
                                        std::pair("blocked", "Pointless until the check it names passes.")})
        out += item(status, means);
    out += heading("EXIT STATUS");
    for (const auto& [code, means] : {std::pair("0", "Every requested phase passes or does not apply; warnings are allowed."),
                                      std::pair("1", "Something failed; with --strict also a warning."),
                                      std::pair("2", "Nothing failed, something needed could not be determined."),
                                      std::pair("3", "A usage, policy or input-file error; nothing was judged."), std::pair("70", "An internal error.")})
        out += item(code, means);
    out += heading("CHECKS",
                   "Phase A is base RDMA, phase B lossless RoCE as far as the host decides it, phase C GPUDirect and S3 over RDMA. \"explain ID\" tells more of each.");
    out += catalogue();
    out += heading("ENVIRONMENT");
    out += item("NO_COLOR", "When set and not empty, no colour on a terminal.");
    out += item("SOURCE_DATE_EPOCH", "Seconds since 1970: the time that a report carries instead of the present one; durations become 0.");
    out += heading("FILES");
    out += item("/usr/share/doc/aistor-rdma-check/policy.example.json", "An example of the policy that --policy reads, see aistor-rdma-check-policy(5).");
    out += heading("SECURITY",
        "A report holds the host name, addresses, interface names, driver and firmware versions. Of environment files it keeps the MINIO_RDMA_* settings, "
        "MINIO_VOLUMES without user-info, and the flags of MINIO_OPTS that a check needs. In a snapshot every other value is masked. Files are created with mode 0600.");
    out += heading("EXAMPLES", "Judge this node, text on a terminal:") + verbatim("sudo aistor-rdma-check");
    out += paragraph("Could RDMA be switched on here? For a gate before AIStor is installed:") +
           verbatim("sudo aistor-rdma-check --stage ready --interface ens1f0np0,ens1f1np1 --format json");
    out += paragraph("Capture a node for support, and judge it elsewhere:") + verbatim("sudo aistor-rdma-check capture node7.json\naistor-rdma-check --snapshot node7.json");
    out += heading("SEE ALSO") + ".BR aistor\\-rdma\\-check\\-policy (5),\n.BR rdma (8),\n.BR devlink (8),\n.BR dcb (8)\n";
    return out;
}

std::string man_policy(const std::string& example) {
    const Json schema = Json::parse(*preflight::schema_text("policy"));
    const Json& definitions = schema["$defs"];
    const Json& top = schema["properties"];
    std::string out = title("aistor-rdma-check-policy", 5);
    out += heading("NAME") + "aistor\\-rdma\\-check\\-policy \\- what a site expects, attests and waives\n";
    out += heading("SYNOPSIS") + ".B aistor\\-rdma\\-check \\-\\-policy\n.I FILE\n";
    out += heading("DESCRIPTION",
        "The policy is a JSON file; comments (// and /* */) are allowed. A member that is not known, a wrong type, an impossible date or a waiver "
        "without reason or owner ends the run with exit code 3 before any check, and the message names the place.");
    out += heading("MEMBERS");
    out += fmt::format(".TP\n\\fBschema\\fR (required)\nAlways \"{}\".\n", roff(preflight::policy_schema));
    out += ".SS expect\nValues that the nodes must have. What is not set is judged for consistency only.\n" + members(top["expect"], "expect.", definitions);
    out += ".SS attest\nWhat no host can see, on somebody's word.\n" + members(top["attest"]["properties"]["switch"], "attest.switch.", definitions);
    out += ".SS waivers\nFindings that the site has decided to live with. A waived finding keeps its status, is shown as waived, and does not count\n"
           "towards the verdict. It never changes the outcome, and what it blocks stays blocked. After its last day it counts again, and the report says so.\n" +
           members(top["waivers"]["items"], "waivers[].", definitions);
    out += heading("EXAMPLE", "A policy with every member:") + verbatim(example);
    out += heading("SEE ALSO") + ".BR aistor\\-rdma\\-check (8)\n";
    return out;
}

}  // namespace generate
