// A snapshot comes from another machine and perhaps from a text editor: nothing in it is trusted. Its size and nesting
// are bounded before anything is built from it, and each refusal names the place.

#include <fmt/format.h>
#include <sys/stat.h>

#include <fstream>
#include <map>
#include <sstream>

#include "host/answer.h"
#include "version.h"

namespace preflight {
namespace {

constexpr std::uintmax_t max_snapshot_bytes = 256u << 20;
constexpr int max_depth = 32;

std::string text_of(const std::string& path) {
    struct stat status {};
    if (stat(path.c_str(), &status) != 0) throw InputError{fmt::format("snapshot {}: {}", path, std::strerror(errno))};
    // A shell's <(…) is a pipe with a writer; opening a FIFO of the file system may wait for ever.
    if (S_ISFIFO(status.st_mode) && path.rfind("/dev/", 0) != 0 && path.rfind("/proc/", 0) != 0)
        throw InputError{fmt::format("snapshot {}: is a FIFO", path)};
    if (S_ISDIR(status.st_mode)) throw InputError{fmt::format("snapshot {}: is a folder", path)};
    if (static_cast<std::uintmax_t>(status.st_size) > max_snapshot_bytes)
        throw InputError{fmt::format("snapshot {}: {} bytes, more than the {} read at most", path, status.st_size, max_snapshot_bytes)};
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    if (!file || !(text << file.rdbuf())) throw InputError{fmt::format("snapshot {}: {}", path, status.st_size == 0 ? "is empty" : std::strerror(errno))};
    return text.str();
}

Json document_of(const std::string& path) {
    const std::string text = text_of(path);
    const auto shallow = [&](int depth, Json::parse_event_t, Json&) {
        if (depth > max_depth) throw InputError{fmt::format("snapshot {}: nested deeper than {} levels", path, max_depth)};
        return true;
    };
    try {
        return Json::parse(text, shallow);
    } catch (const Json::parse_error& error) {
        const auto end = text.begin() + static_cast<std::ptrdiff_t>(std::min(error.byte, text.size()));
        throw InputError{fmt::format("snapshot {}: line {}, byte {}: not valid JSON{}", path, std::count(text.begin(), end, '\n') + 1, error.byte,
                                     error.byte > text.size() ? " (the file ends too early)" : "")};
    }
}

class SnapshotHost : public Host {
public:
    explicit SnapshotHost(const std::string& path) {
        Json document = document_of(path);
        if (!document.is_object()) throw InputError{fmt::format("snapshot {}: not a JSON object", path)};
        const std::string schema = document.contains("schema") && document["schema"].is_string() ? document["schema"].get<std::string>() : "";
        if (schema != snapshot_schema)
            throw InputError{fmt::format("snapshot {}: schema is \"{}\", this version reads \"{}\"", path, schema.substr(0, 80), snapshot_schema)};
        if (!document.contains("answers") || !document["answers"].is_object())
            throw InputError{fmt::format("snapshot {}: has no \"answers\" object", path)};
        if (document.contains("tool") && document["tool"].is_object() && document["tool"]["version"].is_string())
            version_ = document["tool"]["version"].get<std::string>();
        for (const auto& [kind, of_kind] : document["answers"].items()) {
            if (!of_kind.is_object()) throw InputError{fmt::format("snapshot {}: answers.{} is not an object", path, kind)};
            for (const auto& [argument, value] : of_kind.items()) {
                try {
                    answers_.emplace(Question{kind, argument}, Answer{value.get<Fact<Json>>()});
                } catch (const Json::exception&) {
                    throw InputError{fmt::format("snapshot {}: answers.{}[\"{}\"] is not an answer", path, kind, argument)};
                }
            }
        }
    }

protected:
    Answer answer(const Question& question) override {
        const auto known = answers_.find(question);
        if (known != answers_.end()) return known->second;
        return {Unreadable{"not-captured", fmt::format("{} {}: not captured by {}", question.kind, question.argument,
                                                       version_.empty() ? "the capturing version" : version_)}};
    }

private:
    std::map<Question, Answer> answers_;
    std::string version_;
};

}  // namespace

std::unique_ptr<Host> snapshot_host(const std::string& path) {
    return std::make_unique<SnapshotHost>(path);
}

}  // namespace preflight
