#pragma once
// The passive end. It runs on a storage network, so it trusts nobody: one address, allowed peers only, one client at a
// time, one buffer that a client may read and write and nothing else, a deadline for everything.

#include <functional>
#include <string>
#include <vector>

namespace preflight::probe {

struct Invitation {
    std::string address;  ///< own address to listen on
    int port = 0;
    std::vector<std::string> allowed;  ///< addresses of the peers, as text_of() writes them
    double idle_seconds = 0;           ///< without a client: ends
    double total_seconds = 0;          ///< ends, whoever is connected
};

struct Served {
    unsigned clients = 0;              ///< that moved data to the end
    unsigned refused = 0, failed = 0;  ///< turned away; let in, and ended otherwise
};

/// Serves until idle or total time is up. `say` gets a line for each thing an operator may want to know. Throws Failure
/// when it cannot listen at all.
Served listen(const Invitation& invitation, const std::function<void(const std::string&)>& say);

}  // namespace preflight::probe
