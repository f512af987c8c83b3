#pragma once
// Reports of other nodes, read only as far as a comparison needs them: up to the findings, which stand last. Of a report
// that does not pass, the first finding that decided is read too.

#include <map>
#include <string>
#include <vector>

#include "preflight/fact.h"
#include "preflight/report.h"

namespace preflight::fleet {

struct Node {
    std::string file;
    std::string tool;       ///< version of the program that wrote it
    std::string hostname, boot_id;
    std::int64_t started = 0;  ///< seconds since the epoch
    std::string started_text;
    std::vector<std::string> roles;
    Cluster cluster;
    std::string verdict;
    std::string reason;     ///< why the verdict is fail or incomplete: "nic.ddp enp59s0f0np0: safe mode"; else empty
    std::string narrowed;   ///< what was asked short of a whole run: "stage ready, phase A, --only nic.*"; else empty
    std::map<std::string, std::string> answers;  ///< "internode_rdma" -> "yes"
    std::map<std::string, CompareKey> keys;

    bool storage() const;
    /// By which the others know it: its own name among the endpoints, else its host name.
    const std::string& name() const { return cluster.self.empty() ? hostname : cluster.self.front(); }
};

/// One report. Unreadable: "not-json", "not-a-report" (another schema), "newer" (a later number of it), "truncated", or an errno; the cause
/// names the file.
Fact<Node> read_report(const std::string& path);
/// The same for a text; `path` is only for messages.
Fact<Node> parse_report(const std::string& text, const std::string& path);

/// A FIFO of the file system, which is no report.
bool is_fifo(const std::string& path);

/// The files a name stands for: itself, or the *.json of a directory and of its directories, one for each run. Throws InputError.
std::vector<std::string> report_files(const std::string& path);

}  // namespace preflight::fleet
