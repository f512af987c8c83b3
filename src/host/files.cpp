#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <climits>

#include "host/live.h"
#include "host/opened.h"

namespace preflight::live {

namespace {

/// "/proc/PID/root" or "/proc/PID/exe" of a path that begins so, else empty: the links of the kernel to another process's files.
std::string process_link(const std::string& path) {
    constexpr std::string_view proc = "/proc/";
    if (path.rfind(proc, 0) != 0) return {};
    const auto digits = path.find_first_not_of("0123456789", proc.size());
    if (digits == std::string::npos || digits == proc.size()) return {};
    for (const std::string_view name : {"/root", "/exe"}) {
        const auto end = digits + name.size();
        if (path.compare(digits, name.size(), name) == 0 && (end == path.size() || path[end] == '/')) return path.substr(0, end);
    }
    return {};
}

/// Where an open file is, as this process names it.
std::optional<std::string> path_of(int fd) {
    char name[PATH_MAX];
    const ssize_t size = readlink(fmt::format("/proc/self/fd/{}", fd).c_str(), name, sizeof name);
    if (size < 0) return std::nullopt;
    return std::string(name, static_cast<std::size_t>(size));
}

void open_inside(Opened& opened, int top, const std::string& path, int flags) {
    open_how how{};
    how.flags = static_cast<unsigned long long>(flags);
    how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
    opened.fd = static_cast<int>(syscall(SYS_openat2, top, path.c_str(), &how, sizeof how));
    opened.error = errno;
}

/// The only links of /proc that are followed, and only in a real procfs.
void open_process_link(Opened& opened, const std::string& root, const std::string& link, int flags) {
    const auto slash = link.rfind('/');
    Opened folder;
    open_below(folder, root, link.substr(0, slash), O_PATH | O_DIRECTORY);
    opened.error = folder.error;
    if (folder.fd < 0) return;
    struct statfs system {};
    if (fstatfs(folder.fd, &system) != 0 || system.f_type != PROC_SUPER_MAGIC) {
        opened.error = ELOOP;
        return;
    }
    opened.fd = openat(folder.fd, link.c_str() + slash + 1, flags);
    opened.error = errno;
}

}  // namespace

void open_below(Opened& opened, const std::string& root, const std::string& path, int flags) {
    flags |= O_CLOEXEC | (flags & O_PATH ? 0 : O_NOCTTY);  // openat2 refuses O_PATH beside O_NOCTTY
    const std::string link = process_link(path);
    if (!link.empty() && link == path) return open_process_link(opened, root, link, flags);
    if (root == "/" && link.empty()) {
        opened.fd = open(path.c_str(), flags);
        opened.error = errno;
        return;
    }
    Opened top;
    if (!link.empty()) {
        open_process_link(top, root, link, O_PATH | O_DIRECTORY | O_CLOEXEC);
    } else {
        top.fd = open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
        top.error = errno;
    }
    opened.error = top.error;
    if (top.fd >= 0) open_inside(opened, top.fd, path.substr(link.size()), flags);
}

namespace {

std::string type_name(mode_t mode) {
    switch (mode & S_IFMT) {
        case S_IFREG: return "file";
        case S_IFDIR: return "dir";
        case S_IFCHR: return "char";
        case S_IFBLK: return "block";
        case S_IFIFO: return "fifo";
        case S_IFSOCK: return "socket";
        case S_IFLNK: return "link";
        default: return "other";
    }
}

}  // namespace

Fact<std::string> read(const std::string& root, const std::string& path, std::size_t limit) {
    Opened file;
    open_below(file, root, path, O_RDONLY | O_NONBLOCK);
    if (file.fd < 0) return file_error<std::string>(file.error, path);
    struct stat status {};
    if (fstat(file.fd, &status) != 0) return file_error<std::string>(errno, path);
    if (S_ISDIR(status.st_mode)) return Unreadable{"EISDIR", path + ": is a folder"};
    if (!S_ISREG(status.st_mode)) return Unreadable{"not-a-file", fmt::format("{}: is a {}", path, type_name(status.st_mode))};
    std::string text;
    char part[16384];
    for (;;) {
        const ssize_t got = ::read(file.fd, part, sizeof part);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return Unreadable{errno_name(errno), path + ": " + std::strerror(errno)};
        if (got == 0) return text;
        text.append(part, static_cast<std::size_t>(got));
        if (text.size() > limit) return Unreadable{"too-large", fmt::format("{}: more than the {} bytes read at most", path, limit)};
    }
}

Fact<std::vector<std::string>> list(const std::string& root, const std::string& path) {
    Opened folder;
    open_below(folder, root, path, O_RDONLY | O_DIRECTORY | O_NONBLOCK);
    if (folder.fd < 0) return file_error<std::vector<std::string>>(folder.error, path);
    DIR* dir = fdopendir(folder.fd);
    if (!dir) return file_error<std::vector<std::string>>(errno, path);
    folder.fd = -1;
    std::vector<std::string> names;
    errno = 0;
    while (const dirent* entry = readdir(dir)) {
        const std::string name = entry->d_name;
        if (name != "." && name != "..") names.push_back(name);
        errno = 0;
    }
    const int error = errno;
    closedir(dir);
    if (error) return Unreadable{errno_name(error), path + ": " + std::strerror(error)};
    std::sort(names.begin(), names.end());
    return names;
}

Fact<std::string> link_target(const std::string& root, const std::string& path) {
    Opened link;
    open_below(link, root, path, O_PATH | O_NOFOLLOW);
    if (link.fd < 0) return file_error<std::string>(link.error, path);
    char target[PATH_MAX];
    const ssize_t size = readlinkat(link.fd, "", target, sizeof target);
    if (size < 0) return errno == ENOENT ? Fact<std::string>(Unreadable{"EINVAL", path + ": is not a link"}) : file_error<std::string>(errno, path);
    return std::string(target, static_cast<std::size_t>(size));
}

Fact<std::string> resolve(const std::string& root, const std::string& path) {
    const std::string link = process_link(path), of_process = link.ends_with("/root") ? link : "";
    if (root == "/" && of_process.empty()) {
        char resolved[PATH_MAX];
        if (!realpath(path.c_str(), resolved)) return file_error<std::string>(errno, path);
        return std::string(resolved);
    }
    Opened file, top;
    open_below(file, root, path, O_PATH);
    if (file.fd < 0) return file_error<std::string>(file.error, path);
    if (of_process.empty()) top.fd = open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
    else open_process_link(top, root, of_process, O_PATH | O_DIRECTORY | O_CLOEXEC);
    const auto inside = path_of(file.fd), prefix = path_of(top.fd);
    if (!inside || !prefix) return file_error<std::string>(errno, path);
    if (*inside == *prefix) return of_process.empty() ? "/" : of_process;
    const bool below = *prefix != "/" && inside->rfind(*prefix + "/", 0) == 0;
    return of_process + (below ? inside->substr(prefix->size()) : *inside);
}

Fact<FileInfo> info(const std::string& root, const std::string& path) {
    Opened file;
    open_below(file, root, path, O_PATH);
    if (file.fd < 0) return file_error<FileInfo>(file.error, path);
    struct stat status {};
    if (fstat(file.fd, &status) != 0) return file_error<FileInfo>(errno, path);
    FileInfo result;
    result.type = type_name(status.st_mode);
    result.mode = status.st_mode & 07777;
    result.uid = status.st_uid;
    result.gid = status.st_gid;
    result.size = static_cast<std::uint64_t>(status.st_size);
    result.modified = status.st_mtime;
    result.access_list = getxattr(fmt::format("/proc/self/fd/{}", file.fd).c_str(), "system.posix_acl_access", nullptr, 0) > 0;
    return result;
}

std::string errno_name(int error) {
    const char* known = strerrorname_np(error);
    return known ? known : fmt::format("errno {}", error);
}

}  // namespace preflight::live
