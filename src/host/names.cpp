// Names are looked up by getaddrinfo(3), so by the resolver every program of the node uses (hosts file, DNS, nsswitch). It knows no
// deadline, so it runs in threads that are left to themselves when time is up.

#include <arpa/inet.h>
#include <netdb.h>

#include <algorithm>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "host/live.h"

namespace preflight::live {
namespace {

using Addresses = Fact<std::vector<std::string>>;

constexpr std::size_t max_threads = 32;

std::string error_name(int code) {
    switch (code) {
        case EAI_AGAIN: return "EAI_AGAIN";
        case EAI_FAIL: return "EAI_FAIL";
        case EAI_MEMORY: return "EAI_MEMORY";
        case EAI_IDN_ENCODE: return "EAI_IDN_ENCODE";
        default: return "EAI " + std::to_string(code);
    }
}

Addresses look_up(const std::string& name) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    const int code = getaddrinfo(name.c_str(), nullptr, &hints, &found);
    const int error = errno;
    if (code == EAI_NONAME) return Absent{"EAI_NONAME"};
    if (code == EAI_NODATA) return Absent{"EAI_NODATA"};
    if (code == EAI_SYSTEM) return Unreadable{errno_name(error), name + ": " + std::strerror(error)};
    if (code != 0) return Unreadable{error_name(code), name + ": " + gai_strerror(code)};
    std::vector<std::string> list;
    for (const addrinfo* one = found; one; one = one->ai_next) {
        char text[NI_MAXHOST];
        if (getnameinfo(one->ai_addr, one->ai_addrlen, text, sizeof text, nullptr, 0, NI_NUMERICHOST) != 0) continue;
        if (std::find(list.begin(), list.end(), text) == list.end()) list.emplace_back(text);
    }
    freeaddrinfo(found);
    return list;
}

/// Outlives the caller when a look-up does.
struct Work {
    std::vector<std::string> names;
    std::mutex mutex;
    std::condition_variable done;
    std::size_t next = 0, finished = 0;
    std::vector<Addresses> results;

    void run() {
        std::unique_lock lock(mutex);
        while (next < names.size()) {
            const std::size_t index = next++;
            lock.unlock();
            Addresses result = look_up(names[index]);
            lock.lock();
            results[index] = std::move(result);
            if (++finished == names.size()) done.notify_all();
        }
    }
};

}  // namespace

std::vector<Addresses> resolve_names(const std::vector<std::string>& names, Clock::time_point deadline) {
    const auto work = std::make_shared<Work>();
    work->names = names;
    for (const std::string& name : names) work->results.push_back(Unreadable{"timeout", name + ": the resolver did not answer in time"});
    for (std::size_t i = 0; i < std::min(names.size(), max_threads); ++i) std::thread([work] { work->run(); }).detach();
    std::unique_lock lock(work->mutex);
    work->done.wait_until(lock, deadline, [&] { return work->finished == names.size(); });
    work->next = names.size();
    return work->results;
}

}  // namespace preflight::live
