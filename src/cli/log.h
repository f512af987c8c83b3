#pragma once
// What the tool says of its own work, on stderr. Reports never go through here, and no value of an environment file does.

#include <string>

namespace preflight {

enum class LogLevel { debug, warning, error };
void set_log_level(LogLevel level);
bool debugging();
void log_debug(const std::string& message);
void log_warning(const std::string& message);

}  // namespace preflight
