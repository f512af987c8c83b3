#include "remedies.h"

#include <fmt/format.h>

#include "facts/session.h"

namespace preflight {

std::string shell_word(const std::string& text) {
    if (!text.empty() && text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-") == std::string::npos) return text;
    std::string out = "'";
    for (const char c : text) out += c == '\'' ? "'\\''" : std::string(1, c);
    return out + "'";
}

std::vector<std::string> restart_commands(const ServiceFacts& service, bool reload) {
    std::vector<std::string> out;
    if (reload) out.emplace_back("sudo systemctl daemon-reload");
    out.push_back("sudo systemctl restart " + shell_word(service.name));
    return out;
}

Remedy drop_in(const ServiceFacts& service, std::string summary, const std::string& file, const std::vector<std::string>& lines) {
    const std::string folder = "/etc/systemd/system/" + service.name + ".d", path = folder + "/" + file;
    std::string text;
    for (const std::string& line : lines) text += line + "\\n";
    Remedy remedy;
    remedy.summary = std::move(summary);
    remedy.commands = {"sudo mkdir -p " + shell_word(folder), fmt::format("printf {} | sudo tee {}", shell_word(text), shell_word(path))};
    for (std::string& command : restart_commands(service, true)) remedy.commands.push_back(std::move(command));
    remedy.undo = {"sudo rm " + shell_word(path), "sudo systemctl daemon-reload"};
    return remedy;
}

Remedy with_links_down(const Facts& facts, Remedy remedy, const std::string& script, const std::vector<const Port*>& ports) {
    for (const Port* port : ports)
        if (const Session::Way* way = facts.session().by(*port)) {
            const std::string above = way->netdev == port->link.name ? "" : fmt::format(", over {}", port->link.name);
            remedy.summary += fmt::format(" T{} leaves by {}{}: this ends your session; work from the console, or let the command below run apart from it.",
                                          way->what.substr(1), way->netdev, above);
            remedy.commands.push_back(fmt::format("sudo systemd-run --collect --unit=aistor-rdma-remedy /bin/sh -c {}", shell_word(script)));
            return remedy;
        }
    remedy.commands.push_back(fmt::format("sudo sh -c {}", shell_word(script)));
    return remedy;
}

Remedy start_rdma_build(const ServiceFacts& service, const Options& options) {
    return drop_in(service, "Start the RDMA build", "rdma.conf",
                   {"[Service]", "ExecStart=", fmt::format("ExecStart={} server $MINIO_OPTS $MINIO_VOLUMES", options.binary.value_or(rdma_build_path))});
}

Remedy set_variable(const ServiceFacts& service, std::string summary, const std::string& file, const std::string& name, const std::string& value) {
    Remedy remedy;
    remedy.summary = std::move(summary);
    const std::string path = shell_word(file);
    remedy.commands = {fmt::format("sudo cp -p {0} {0}.before-rdma", path), fmt::format("sudo sed -i -E '/^[[:space:]]*(export[[:space:]]+)?{}[[:space:]]*=/d' {}", name, path),
                       fmt::format("echo {} | sudo tee -a {} > /dev/null", shell_word(name + "=" + value), path)};
    for (std::string& command : restart_commands(service)) remedy.commands.push_back(std::move(command));
    remedy.undo = {fmt::format("sudo mv {0}.before-rdma {0}", path)};
    return remedy;
}

}  // namespace preflight
