// compare: reports of many nodes side by side.

#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "cli/presentation.h"
#include "fleet/changes.h"
#include "fleet/rules.h"
#include "preflight/policy.h"

namespace preflight {

Command compare_command() {
    return {"compare", "Set reports of many nodes side by side and judge what no single node can see", [](CLI::App& app) -> std::function<Exit()> {
                struct Arguments {
                    std::vector<std::string> reports;
                    std::string policy;
                    bool changes = false;
                    Presentation presentation;
                };
                auto a = std::make_shared<Arguments>();
                app.add_option("REPORT", a->reports, "Reports (JSON), or folders of them, one for each run")->required();
                app.add_option("--policy", a->policy, "The site's policy: waivers")->type_name("FILE");
                app.add_flag("--changes", a->changes, "What changed on one node, between two reports: OLD NEW");
                add_presentation_options(app, a->presentation);
                return [a] {
                    const auto outputs = parse_outputs(a->presentation);
                    if (a->changes) {
                        if (a->reports.size() != 2) throw UsageError{"compare --changes: give two reports, OLD and NEW"};
                        const fleet::Changes changes = fleet::changes(a->reports[0], a->reports[1]);
                        print(changes.text());
                        return changes.worse ? Exit::failed : Exit::ok;
                    }
                    std::vector<std::string> files;
                    for (const std::string& path : a->reports)
                        for (std::string& file : fleet::report_files(path)) files.push_back(std::move(file));
                    const Policy policy = a->policy.empty() ? Policy{} : read_policy(a->policy);
                    return present(fleet::compare(fleet::Fleet::read(files), policy), a->presentation, outputs);
                };
            }};
}

}  // namespace preflight
