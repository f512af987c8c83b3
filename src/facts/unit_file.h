#pragma once
// The text of systemd unit files and what the manager makes of it: continuation lines, sections, drop-ins in their
// order of precedence, resets, specifiers, and the values it refuses or ignores (src/shared/conf-parser.c,
// src/basic/unit-file.c, src/shared/dropin.c, src/core/load-fragment.c; systemd 252).

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "grammar/systemd_text.h"
#include "preflight/fact.h"

namespace preflight {

class Host;

/// Where a value stands.
struct Origin {
    std::string path;  ///< a file, or "the service manager"
    int line = 0;

    std::string text() const;
    bool operator==(const Origin&) const = default;
};

struct UnitLine {
    std::string section, key, value;
    Origin origin;
};

/// One unit file or drop-in, line by line.
struct UnitText {
    std::vector<UnitLine> lines;
    /// Something the manager ignores, or, when `fatal`, stops reading this file at.
    struct Trouble {
        std::string message;
        Origin origin;
        bool fatal = false;
    };
    std::vector<Trouble> troubles;
};
UnitText read_unit_text(std::string_view text, const std::string& path);

/// All files that make up one unit, as they stand on disk.
struct UnitFiles {
    std::string asked;     ///< name asked for
    std::string id;        ///< name after aliases
    Fact<std::string> fragment = Absent{};  ///< path of the unit file; Absent: the manager would not find it
    bool masked = false;   ///< linked to /dev/null, or empty
    std::vector<std::string> drop_ins;  ///< in order of application
    std::vector<std::pair<std::string, Unreadable>> unreadable;  ///< files and folders of this unit that could not be read
    std::vector<UnitLine> lines;        ///< of the fragment, then of each drop-in
    std::vector<UnitText::Trouble> troubles;
};

/// Folders of the system manager, highest precedence first (systemd.unit(5), lookup_paths_init).
const std::vector<std::string>& unit_folders();

UnitFiles find_unit(Host& host, const std::string& name);

/// What the specifiers of one unit stand for; a letter that is missing cannot be told from files.
struct Specifiers {
    std::vector<std::pair<char, std::string>> known;
    /// The text with its specifiers replaced; nullopt when one of them is not known here.
    std::optional<std::string> expand(std::string_view text) const;
};
Specifiers specifiers_of(Host& host, const std::string& id);

struct ExecCommand {
    std::string path;                ///< as written, without prefixes
    std::vector<std::string> words;  ///< argv before variables are replaced
    bool expands = true;             ///< false behind the ':' prefix
    bool full_privileges = false;    ///< behind '+' or '!': not as the unit's user
    bool ignore_failure = false;
    Origin origin;
};

/// A variable and where it comes from.
struct Assigned {
    std::string name, value;
    Origin origin;
};

struct NamedFile {
    std::string path;
    bool optional = false;  ///< behind a dash: a miss is no error
    Origin origin;
};

template <class T>
struct Stated {
    T value{};
    Origin origin;
};

/// An assert or condition: "AssertFileIsExecutable" and its argument.
struct UnitTest {
    std::string kind, argument;
    bool assertion = false;
    bool negated = false, trigger = false;
    Origin origin;
};

/// A unit as the manager would load it.
struct ServiceUnit {
    std::vector<ExecCommand> exec_start;
    std::vector<ExecCommand> start_pre;  ///< ExecStartPre=, in its order
    std::string type = "simple";
    std::optional<Stated<std::string>> user, group;
    std::vector<std::string> supplementary_groups;
    bool dynamic_user = false;
    std::vector<Assigned> environment;
    std::vector<NamedFile> environment_files;
    std::vector<std::string> pass_environment, unset_environment;
    std::optional<Stated<systemd_text::Limit>> memlock;
    std::vector<UnitText::Trouble> memlock_ignored;  ///< LimitMEMLOCK lines without effect
    std::vector<std::string> ambient_capabilities;   ///< "CAP_IPC_LOCK" form
    std::optional<Stated<std::vector<std::string>>> bounding_set;  ///< nullopt: all; complete for capabilities_that_matter only
    std::vector<UnitTest> tests;
    std::vector<UnitLine> sandbox;      ///< last value of each directive that takes something away; lists are joined by a blank
    std::vector<UnitText::Trouble> refused;  ///< why the manager refuses the unit
    std::vector<UnitText::Trouble> ignored;  ///< lines without effect that were meant to have one
    std::vector<UnitLine> unresolved;   ///< lines with a specifier that cannot be told from files

    bool may_have(std::string_view capability) const;  ///< by the bounding set
    /// The last value of a sandbox directive, or nullptr.
    const UnitLine* sandbox_line(std::string_view key) const;
};
/// The capabilities on which a verdict rests, and their bits (include/uapi/linux/capability.h).
struct Capability {
    std::string_view name;
    int bit;
};
inline constexpr Capability capabilities_that_matter[] = {{"CAP_DAC_OVERRIDE", 1}, {"CAP_IPC_LOCK", 14}};

ServiceUnit interpret(const UnitFiles& files, const Specifiers& specifiers);

/// The words of an Environment= line, each an assignment; stops at the first word the manager cannot read.
struct EnvironmentWords {
    std::vector<std::pair<std::string, std::string>> assignments;
    std::vector<std::string> refused;  ///< what is wrong with the others, without their values
};
EnvironmentWords environment_words(std::string_view value, const Specifiers& specifiers);

/// One ExecStart= value. Empty list with `refused`: the manager refuses the unit.
struct ExecWords {
    std::vector<ExecCommand> commands;
    std::string refused;
    bool unresolved = false;
};
ExecWords exec_words(std::string_view value, const Specifiers& specifiers);

}  // namespace preflight
