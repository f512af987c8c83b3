#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <climits>

#include "host/live.h"
#include "host/opened.h"

namespace preflight::live {

void open_below(Opened& opened, const std::string& root, const std::string& path, int flags) {
    flags |= O_CLOEXEC | (flags & O_PATH ? 0 : O_NOCTTY);  // openat2 refuses O_PATH beside O_NOCTTY
    if (root == "/") {
        opened.fd = open(path.c_str(), flags);
        opened.error = errno;
        return;
    }
    Opened top;
    top.fd = open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (top.fd < 0) {
        opened.error = errno;
        return;
    }
    open_how how{};
    how.flags = static_cast<unsigned long long>(flags);
    how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
    opened.fd = static_cast<int>(syscall(SYS_openat2, top.fd, path.c_str(), &how, sizeof how));
    opened.error = errno;
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
    if (root == "/") {
        char resolved[PATH_MAX];
        if (!realpath(path.c_str(), resolved)) return file_error<std::string>(errno, path);
        return std::string(resolved);
    }
    Opened file;
    open_below(file, root, path, O_PATH);
    if (file.fd < 0) return file_error<std::string>(file.error, path);
    char name[PATH_MAX], top[PATH_MAX];
    const ssize_t size = readlink(fmt::format("/proc/self/fd/{}", file.fd).c_str(), name, sizeof name);
    if (size < 0 || !realpath(root.c_str(), top)) return file_error<std::string>(errno, path);
    const std::string inside(name, static_cast<std::size_t>(size)), prefix = top;
    if (inside == prefix) return std::string("/");
    if (prefix != "/" && inside.rfind(prefix + "/", 0) == 0) return inside.substr(prefix.size());
    return inside;
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
