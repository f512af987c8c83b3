#pragma once
// systemd's own parsers, from the shared library of the service manager that is installed here. Tests hold our reading
// against theirs. Not available: the tests that need it skip.

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace preflight::systemd_oracle {

bool available();

/// load_env_file and the cleaning that follows it; nullopt when it refuses the file.
std::optional<std::map<std::string, std::string>> load_env_file(const std::string& text);
/// extract_first_word until the text ends; nullopt when it refuses it. `flags` as in systemd's extract-word.h.
std::optional<std::vector<std::string>> words(const std::string& text, unsigned flags);
/// replace_env_argv.
std::vector<std::string> expand(const std::vector<std::string>& arguments, const std::map<std::string, std::string>& variables);
std::optional<unsigned long long> parse_size(const std::string& text);

}  // namespace preflight::systemd_oracle
