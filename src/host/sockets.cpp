// Listening sockets stand first in /proc/net/tcp and tcp6 (net/ipv4/tcp_ipv4.c: the listening hash is walked before the established
// one), so reading stops at the first socket of another state, however many connections a busy node holds.

#include <arpa/inet.h>
#include <dirent.h>
#include <fmt/format.h>
#include <unistd.h>

#include <climits>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <memory>

#include "host/live.h"

namespace preflight::live {
namespace {

constexpr unsigned tcp_listen = 10;  // include/net/tcp_states.h

struct Entry {
    ListeningSocket socket;
    std::string inode;
};

/// The address as the kernel prints it: 32-bit words in host order, hexadecimal.
std::string address_of(const char* hex) {
    const std::size_t words = std::strlen(hex) / 8;
    std::uint32_t bytes[4]{};
    for (std::size_t i = 0; i < words && i < 4; ++i) {
        char word[9]{};
        std::memcpy(word, hex + 8 * i, 8);
        bytes[i] = static_cast<std::uint32_t>(std::strtoul(word, nullptr, 16));
    }
    char text[INET6_ADDRSTRLEN] = "";
    inet_ntop(words == 4 ? AF_INET6 : AF_INET, bytes, text, sizeof text);
    return text;
}

/// Adds the listeners on `port`; the errno when the table cannot be read. A kernel without IPv6 has no tcp6.
int read_table(const char* path, int port, std::vector<Entry>& list) {
    const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(path, "re"), std::fclose);
    if (!file) return errno;
    char line[512];
    if (!std::fgets(line, sizeof line, file.get())) return std::ferror(file.get()) ? EIO : 0;
    while (std::fgets(line, sizeof line, file.get())) {
        char address[33], inode[24];
        unsigned local = 0, state = 0, uid = 0;
        if (std::sscanf(line, "%*s %32[0-9A-F]:%x %*s %x %*s %*s %*s %u %*s %23s", address, &local, &state, &uid, inode) != 5) return EBADMSG;
        if (state != tcp_listen) break;
        if (static_cast<int>(local) != port) continue;
        Entry entry;
        entry.socket.address = address_of(address);
        entry.socket.port = port;
        entry.socket.uid = uid;
        entry.inode = inode;
        list.push_back(std::move(entry));
    }
    return std::ferror(file.get()) ? EIO : 0;
}

std::string link_of(const std::string& path) {
    char target[PATH_MAX];
    const ssize_t size = readlink(path.c_str(), target, sizeof target);
    return size > 0 ? std::string(target, static_cast<std::size_t>(size)) : std::string();
}

/// Calls `each` with the numeric names in a folder.
template <class F>
void numbers_in(const std::string& path, F&& each) {
    const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir(path.c_str()), closedir);
    if (!folder) return;
    while (const dirent* entry = readdir(folder.get()))
        if (entry->d_name[0] >= '0' && entry->d_name[0] <= '9') each(entry->d_name);
}

/// Finds a holder of each socket. The service manager's own copy of a socket it passed on is a holder only when there is no other.
void find_owners(std::vector<Entry>& list) {
    std::map<std::string, std::vector<Entry*>> by_link;
    for (Entry& entry : list) by_link["socket:[" + entry.inode + "]"].push_back(&entry);
    numbers_in("/proc", [&](const std::string& pid) {
        numbers_in("/proc/" + pid + "/fd", [&](const std::string& fd) {
            const auto found = by_link.find(link_of("/proc/" + pid + "/fd/" + fd));
            if (found == by_link.end()) return;
            for (Entry* entry : found->second)
                if (!entry->socket.pid || *entry->socket.pid == 1) entry->socket.pid = std::atoi(pid.c_str());
        });
    });
    for (Entry& entry : list) {
        if (!entry.socket.pid) continue;
        const std::string process = fmt::format("/proc/{}", *entry.socket.pid);
        std::ifstream comm(process + "/comm");
        std::getline(comm, entry.socket.comm);
        entry.socket.executable = link_of(process + "/exe");
    }
}

}  // namespace

Fact<std::vector<ListeningSocket>> listening(int port) {
    std::vector<Entry> list;
    for (const char* path : {"/proc/net/tcp", "/proc/net/tcp6"}) {
        const int error = read_table(path, port, list);
        if (error == ENOENT && path == std::string("/proc/net/tcp6")) continue;
        if (error) return Unreadable{error == EBADMSG ? "malformed" : errno_name(error), fmt::format("{}: {}", path, std::strerror(error))};
    }
    if (!list.empty()) find_owners(list);
    std::vector<ListeningSocket> sockets;
    for (Entry& entry : list) sockets.push_back(std::move(entry.socket));
    return sockets;
}

}  // namespace preflight::live
