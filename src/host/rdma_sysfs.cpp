// GID tables and port counters of /sys/class/infiniband (Documentation/ABI/stable/sysfs-class-infiniband).

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>

#include "host/live.h"

namespace preflight::live {
namespace {

/// A folder kept open, so that each of its many small files costs three short system calls.
class Folder {
public:
    Folder(int parent, const std::string& path)
        : fd_(openat(parent, path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)), error_(errno) {}
    ~Folder() {
        if (fd_ >= 0) close(fd_);
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;

    int fd() const { return fd_; }
    /// The errno of a failed open, else 0.
    int error() const { return fd_ < 0 ? error_ : 0; }

    /// The first line of a file, or the errno in `error`.
    std::string line(const std::string& name, int& error) const {
        if (fd_ < 0) {
            error = error_;
            return {};
        }
        const int file = openat(fd_, name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        char text[256];
        const ssize_t size = file < 0 ? -1 : ::read(file, text, sizeof text);
        error = size < 0 ? errno : 0;
        if (file >= 0) close(file);
        const std::string all(text, size < 0 ? 0 : static_cast<std::size_t>(size));
        return all.substr(0, all.find('\n'));
    }

    Fact<std::string> fact(const std::string& name, const std::string& what) const {
        int error = 0;
        std::string text = line(name, error);
        if (error) return file_error<std::string>(error, what);
        return text;
    }

    std::vector<std::string> names(int& error) const {
        std::vector<std::string> list;
        const int copy = openat(fd_, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        DIR* dir = copy < 0 ? nullptr : fdopendir(copy);
        if (!dir) {
            error = errno;
            if (copy >= 0) close(copy);
            return list;
        }
        errno = 0;
        while (const dirent* entry = readdir(dir)) {
            if (entry->d_name[0] != '.') list.emplace_back(entry->d_name);
            errno = 0;
        }
        error = errno;
        closedir(dir);
        return list;
    }

private:
    int fd_;
    int error_;
};

/// The port's folder with all links resolved, so that opening it leads nowhere outside `root`.
Fact<std::string> port_folder(const std::string& root, const std::string& device, int port) {
    return resolve(root, fmt::format("/sys/class/infiniband/{}/ports/{}", device, port))
        .then([&](const std::string& path) { return root == "/" ? path : root + path; });
}

bool all_zero(const std::string& gid) {
    return gid.find_first_not_of("0:") == std::string::npos;
}

template <class T>
bool whole_number(const std::string& text, T& number) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size();
}

constexpr const char* lifespan = "lifespan";  // among hw_counters, but how long the driver may cache them, in ms

}  // namespace

Fact<GidTable> rdma_gids(const std::string& root, const std::string& device, int port) {
    const auto path = port_folder(root, device, port);
    if (!path.has()) return path.as<GidTable>();
    const Folder gids(AT_FDCWD, *path + "/gids"), types(AT_FDCWD, *path + "/gid_attrs/types"),
        ndevs(AT_FDCWD, *path + "/gid_attrs/ndevs");
    if (gids.error()) return file_error<GidTable>(gids.error(), *path + "/gids");
    int error = 0;
    std::vector<int> slots;
    for (const std::string& name : gids.names(error)) {
        int slot = 0;
        if (whole_number(name, slot)) slots.push_back(slot);
    }
    if (error) return file_error<GidTable>(error, *path + "/gids");
    std::sort(slots.begin(), slots.end());
    GidTable table;
    table.length = static_cast<int>(slots.size());
    for (const int slot : slots) {
        const std::string name = std::to_string(slot);
        const std::string value = gids.line(name, error);
        if (error) table.unreadable.push_back(fmt::format("{}: {}", slot, errno_name(error)));
        if (error || all_zero(value)) continue;
        Gid gid;
        gid.index = slot;
        gid.gid = value;
        gid.type = types.fact(name, fmt::format("{}/gid_attrs/types/{}", *path, slot));
        gid.netdev = ndevs.fact(name, fmt::format("{}/gid_attrs/ndevs/{}", *path, slot));
        // The kernel's answer for a GID without an interface (drivers/infiniband/core/sysfs.c).
        if (gid.netdev.unreadable() && gid.netdev.why().error == "EINVAL") gid.netdev = Absent{"EINVAL"};
        table.gids.push_back(std::move(gid));
    }
    return table;
}

Fact<std::map<std::string, std::uint64_t>> rdma_counters(const std::string& root, const std::string& device, int port) {
    using Counters = std::map<std::string, std::uint64_t>;
    const auto path = port_folder(root, device, port);
    if (!path.has()) return path.as<Counters>();
    Counters counters;
    Fact<Counters> nothing = Absent{};
    for (const char* name : {"hw_counters", "counters"}) {
        const std::string where = *path + "/" + name;
        const Folder folder(AT_FDCWD, where);
        if (folder.error() == ENOENT) continue;
        if (folder.error()) return file_error<Counters>(folder.error(), where);
        int error = 0;
        const auto names = folder.names(error);
        if (error) return file_error<Counters>(error, where);
        if (nothing.absent()) nothing = Counters{};
        for (const std::string& counter : names) {
            if (counter == lifespan) continue;
            const std::string text = folder.line(counter, error);
            std::uint64_t value = 0;
            if (error && error != EINVAL)
                nothing = Unreadable{errno_name(error), fmt::format("{}/{}: {}", where, counter, std::strerror(error))};
            if (!error && whole_number(text, value)) counters.emplace(counter, value);
        }
    }
    if (counters.empty()) return nothing;
    return counters;
}

}  // namespace preflight::live
