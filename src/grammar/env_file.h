#pragma once
// A file named by EnvironmentFile=, read as the systemd manager reads it (src/basic/env-file.c, load_env_file and the
// cleaning in exec_context_load_environment). It looks like shell and is not: no expansion, no `export`, no comment after
// a value, and quotes count only where a value begins.

#include <string>
#include <string_view>
#include <vector>

#include "grammar/systemd_text.h"

namespace preflight {

/// Up to systemd 253 a comment line that ends in a backslash continues on the next line; from 254 on it does not.
enum class CommentContinues { yes, no };

struct EnvLine {
    std::string name, value;
    int line = 0;  ///< physical line, from 1, on which the name begins

    // How the value came about; each may make it something else than its author meant.
    bool note_in_value = false;      ///< an unquoted value holds a blank and then '#'
    bool text_after_quote = false;   ///< text follows the closing quote and was glued to the value
    bool unclosed_quote = false;     ///< the quote never closes: the rest of the file became the value
    bool line_in_quotes = false;     ///< a quoted value runs over more than one line
    bool continued = false;          ///< a backslash at the line's end joined lines
    bool lone_backslash = false;     ///< a backslash before CR LF: it eats the CR, and joins nothing
    bool blanks_at_equals = false;   ///< blanks around '=' that the manager drops
    std::vector<std::string> swallowed;  ///< names of assignments that stand on lines which became part of this value

    // Byte offsets into the text: the name, and the value from behind '=' to the line's end.
    std::size_t name_at = 0, value_at = 0, value_end = 0;
};

struct EnvDropped {
    enum Why {
        exported,   ///< "export NAME=…": not a valid name
        bad_name,   ///< any other name that is not valid, a byte order mark before it included
        no_equals,  ///< a line without '='
        comment,    ///< stands on the line after a comment that ends in a backslash
    } why = bad_name;
    std::string name = {};  ///< what the author meant to set, where that can be told
    int line = 0;
    bool endpoint = false;  ///< the line is an endpoint or drive that was meant for the value above
    std::size_t at = 0;  ///< byte offset of the line's first character that counts
};

struct EnvFile {
    std::vector<EnvLine> lines;      ///< accepted assignments in file order, repeated ones included; the last one holds
    std::vector<EnvDropped> dropped;
    /// Why the manager refuses the whole file, and so the start of the service (or, behind a dash, takes nothing from it):
    /// "a NUL byte", "a value that is not UTF-8". Empty when it accepts the file.
    std::string refused;
    int refused_line = 0;
    std::size_t refused_at = 0, refused_end = 0;  ///< byte offsets of the assignment that is refused
    std::vector<std::size_t> comments;            ///< byte offsets of the '#' or ';' that begins a comment
    bool crlf = false;
    bool bom = false;

    systemd_text::Variables variables() const;
};

/// The variable that stands in front of '=' behind other words or signs ("set NAME", "- NAME", "-NAME"), or with '-' and '.'
/// where a name has '_'; empty when there is none. `at`: its byte offset in `text`.
std::string meant_name(std::string_view text, std::size_t* at = nullptr);

/// An endpoint or a row of drives as it stands in MINIO_VOLUMES: "http://n{1...4}:9000/mnt", "/mnt/d{1...4}".
bool looks_like_endpoint(std::string_view word);

EnvFile read_env_file(std::string_view text, CommentContinues comments = CommentContinues::yes);

}  // namespace preflight
