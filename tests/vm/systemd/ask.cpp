// Prints how the program reads units, one JSON object for each: ask UNIT…
// What it reads of files stands beside what the service manager says, so that a test can hold both against the manager
// itself. The files are read without the masking of secrets, since values are compared byte for byte.

#include <fmt/format.h>

#include <cstdio>

#include "facts/environment.h"
#include "facts/server_process.h"
#include "facts/service.h"
#include "host/answer.h"

namespace preflight {
namespace {

class Unmasked : public Recorder {
public:
    using Recorder::Recorder;
    bool with_bus = false;

protected:
    Answer answer(const Question& question) override {
        if (question.kind == "environment_file" || question.kind == "unit_file") return Recorder::answer({"read", question.argument});
        if (question.kind == "loaded_unit" && !with_bus) return {Absent{}};
        return Recorder::answer(question);
    }
};

std::string load_state(const ServiceFacts& facts) {
    if (facts.files.masked) return "masked";
    if (facts.files.fragment.absent()) return "not-found";
    return facts.on_disk.refused.empty() ? "loaded" : "bad-setting";
}

std::string limit_text(std::uint64_t bytes) {
    return bytes == systemd_text::infinity ? "infinity" : std::to_string(bytes);
}

Json reading(Unmasked& host, const std::string& name) {
    Options options;
    options.service = name;
    host.with_bus = true;
    const ServiceFacts loaded = read_service(host, options);
    host.with_bus = false;
    const ServiceFacts facts = read_service(host, options);
    const ServiceUnit& unit = facts.on_disk;
    const EnvironmentFacts environment = read_environment(host, options, facts, ServerProcesses{}, systemd);

    Json out = {{"unit", name}, {"LoadState", load_state(facts)}, {"FragmentPath", facts.files.fragment.value_or("")}, {"DropInPaths", facts.files.drop_ins}};
    out["differs"] = loaded.differs;
    out["refused"] = Json::array();
    for (const auto& trouble : unit.refused) out["refused"].push_back(trouble.message);
    out["Type"] = unit.type;
    out["User"] = unit.user ? unit.user->value : "";
    out["Group"] = unit.group ? unit.group->value : "";
    out["LimitMEMLOCKSoft"] = limit_text(facts.memlock.soft);
    out["PassEnvironment"] = unit.pass_environment;
    out["UnsetEnvironment"] = unit.unset_environment;
    out["EnvironmentFiles"] = Json::array();
    for (const NamedFile& file : unit.environment_files) out["EnvironmentFiles"].push_back(fmt::format("{} (ignore_errors={})", file.path, file.optional ? "yes" : "no"));
    out["ExecStart"] = Json::array();
    for (const ExecCommand& command : unit.exec_start) {
        std::string words;
        for (const std::string& word : command.words) words += " " + word;
        out["ExecStart"].push_back(fmt::format("path={} ; argv[]={}", command.path, words.empty() ? "" : words.substr(1)));
    }
    for (const UnitLine& line : unit.sandbox) out["sandbox"][line.key] = line.value;
    out["no_start"] = environment.no_start_why;
    out["environment"] = Json::object();
    out["manager"] = Json::array();
    for (const Variable& variable : environment.variables)
        if (variable.origin.path == "the service manager's environment") out["manager"].push_back(variable.name);
        else out["environment"][variable.name] = variable.value;
    return out;
}

}  // namespace
}  // namespace preflight

int main(int argc, char** argv) {
    using namespace preflight;
    const auto live = live_host();
    Unmasked host(*live);
    for (int i = 1; i < argc; ++i) std::puts(reading(host, argv[i]).dump(-1, ' ', false, Json::error_handler_t::replace).c_str());
}
