#include "grammar/env_file.h"

#include <algorithm>

namespace preflight {
namespace {

using systemd_text::trimmed;
using systemd_text::valid_variable;

constexpr std::string_view bom = "\xef\xbb\xbf";
/// sysconf(_SC_ARG_MAX) with the default stack limit of 8 MiB: no assignment may be longer.
constexpr std::size_t longest_assignment = 2u << 20;

bool newline(char c) {
    return c == '\n' || c == '\r';
}

bool blank(char c) {
    return systemd_text::whitespace.find(c) != std::string_view::npos;
}

/// The name a line would set if it stood alone, with or without `export`; empty when it sets none.
std::string name_set_by(std::string_view line) {
    const auto equals = line.find('=');
    if (equals == std::string_view::npos) return {};
    std::string_view name = trimmed(line.substr(0, equals));
    if (name.rfind("export ", 0) == 0) name = trimmed(name.substr(7));
    return valid_variable(name) ? std::string(name) : std::string();
}

class Reader {
public:
    Reader(std::string_view text, CommentContinues comments) : text_(text), comments_(comments) {}

    EnvFile read() {
        if (const auto nul = text_.find('\0'); nul != std::string_view::npos) {
            refuse("a NUL byte", line_at(nul));
            file_.refused_at = nul;
            file_.refused_end = nul + 1;
            return std::move(file_);
        }
        file_.crlf = text_.find("\r\n") != std::string_view::npos;
        file_.bom = text_.rfind(bom, 0) == 0;
        for (at_ = 0; at_ < text_.size() && file_.refused.empty(); ++at_) step(text_[at_]);
        if (file_.refused.empty()) finish();
        return std::move(file_);
    }

private:
    enum State { pre_key, key, pre_value, value, value_escape, single_quoted, double_quoted, double_quoted_escape, comment, comment_escape };

    void step(char c) {
        switch (state_) {
            case pre_key:
                if (c == '#' || c == ';') {
                    state_ = comment;
                    file_.comments.push_back(at_);
                }
                else if (!blank(c)) begin_key(c);
                break;
            case key:
                if (newline(c)) {
                    drop_line();
                    state_ = pre_key;
                } else if (c == '=') {
                    state_ = pre_value;
                    equals_ = at_;
                } else {
                    key_ += c;
                }
                break;
            case pre_value:
                if (newline(c)) push();
                else if (c == '\'') open_quote(single_quoted);
                else if (c == '"') open_quote(double_quoted);
                else if (c == '\\') state_ = value_escape;
                else if (!blank(c)) {
                    if (quoted_) draft_.text_after_quote = true;
                    begin_value(c);
                }
                break;
            case value:
                if (newline(c)) push();
                else if (c == '\\') {
                    state_ = value_escape;
                    solid_ = std::string::npos;
                } else {
                    if (c == '#' && !value_.empty() && blank(value_.back())) draft_.note_in_value = true;
                    if (!blank(c)) solid_ = std::string::npos;
                    else if (solid_ == std::string::npos) solid_ = value_.size();
                    value_ += c;
                }
                break;
            case value_escape:
                state_ = value;
                if (quoted_ && !newline(c)) draft_.text_after_quote = true;
                if (!newline(c)) value_ += c;
                else if (c == '\r' && text_.substr(at_, 2) == "\r\n") draft_.lone_backslash = true;
                else draft_.continued = true;
                break;
            case single_quoted:
                if (c == '\'') state_ = pre_value;
                else quoted(c);
                break;
            case double_quoted:
                if (c == '"') state_ = pre_value;
                else if (c == '\\') state_ = double_quoted_escape;
                else quoted(c);
                break;
            case double_quoted_escape:
                state_ = double_quoted;
                if (std::string_view("\"\\`$").find(c) != std::string_view::npos) value_ += c;
                else if (c == '\n') draft_.continued = true;
                else {
                    value_ += '\\';
                    value_ += c;
                }
                break;
            case comment:
                if (c == '\\') state_ = comment_escape;
                else if (newline(c)) state_ = pre_key;
                break;
            case comment_escape:
                if (!newline(c)) state_ = comment;
                else if (comments_ == CommentContinues::no) state_ = pre_key;
                else {
                    state_ = comment;
                    drop_comment_line(at_ + 1);
                }
                break;
        }
    }

    void begin_key(char c) {
        state_ = key;
        key_ = c;
        begin_ = at_;
        value_.clear();
        solid_ = std::string::npos;
        quoted_ = false;
        draft_ = {};
        draft_.line = line_at(at_);
    }

    void begin_value(char c) {
        state_ = value;
        if (c == '#' && quoted_) draft_.note_in_value = true;
        value_ += c;
    }

    void open_quote(State state) {
        state_ = state;
        quoted_ = true;
    }

    void quoted(char c) {
        if (newline(c)) draft_.line_in_quotes = true;
        value_ += c;
    }

    void push() {
        state_ = pre_key;
        if (solid_ != std::string::npos) value_.resize(solid_);
        const std::string name(trim_right(key_));
        if (!systemd_text::valid_utf8(name) || !systemd_text::valid_utf8(value_)) {
            file_.refused_at = begin_;
            file_.refused_end = at_;
            return refuse("a value that is not UTF-8", draft_.line);
        }
        if (!valid_variable(name) || name.size() + value_.size() + 1 >= longest_assignment) return drop_name(name);
        draft_.name = name;
        draft_.value = value_;
        draft_.name_at = begin_;
        draft_.value_at = equals_ + 1;
        draft_.value_end = at_;
        draft_.blanks_at_equals = blank(text_[equals_ - 1]) || (equals_ + 1 < text_.size() && (text_[equals_ + 1] == ' ' || text_[equals_ + 1] == '\t'));
        find_swallowed();
        file_.lines.push_back(std::move(draft_));
        draft_ = {};
    }

    static std::string_view trim_right(std::string_view text) {
        while (!text.empty() && blank(text.back())) text.remove_suffix(1);
        return text;
    }

    /// Assignments on the second and later lines of the value.
    void find_swallowed() {
        const std::string_view span = text_.substr(equals_, at_ - equals_);
        for (std::size_t i = span.find('\n'); i != std::string_view::npos && i + 1 < span.size(); i = span.find('\n', i + 1)) {
            const std::string name = name_set_by(span.substr(i + 1, span.find('\n', i + 1) - i - 1));
            if (!name.empty()) draft_.swallowed.push_back(name);
        }
    }

    void drop_name(std::string_view name) {
        EnvDropped dropped{.why = EnvDropped::bad_name, .line = draft_.line, .at = begin_};
        if (name.rfind(bom, 0) == 0) name.remove_prefix(bom.size());
        if (name.rfind("export", 0) == 0 && name.size() > 6 && blank(name[6])) {
            dropped.why = EnvDropped::exported;
            name = trimmed(name.substr(6));
        }
        dropped.name = meant_name(name);
        file_.dropped.push_back(std::move(dropped));
    }

    void drop_line() {
        EnvDropped dropped{.why = EnvDropped::no_equals, .line = draft_.line, .at = begin_};
        const std::string_view text = trim_right(key_);
        for (std::size_t i = 0; i < text.size() && dropped.name.empty();) {
            const std::size_t end = std::min(text.find_first_of(" \t", i), text.size());
            std::string_view word = text.substr(i, end - i);
            dropped.endpoint |= looks_like_endpoint(word);
            word = word.substr(0, word.find(':'));
            if (word.rfind("MINIO_", 0) == 0 && valid_variable(word)) dropped.name = word;
            i = std::min(text.find_first_not_of(" \t", end), text.size());
        }
        file_.dropped.push_back(std::move(dropped));
    }

    void drop_comment_line(std::size_t begin) {
        const std::string name = name_set_by(text_.substr(begin, text_.find_first_of("\r\n", begin) - begin));
        if (name.empty()) return;
        file_.dropped.push_back(
            {.why = EnvDropped::comment, .name = name, .line = line_at(begin), .at = begin});
    }

    void finish() {
        switch (state_) {
            case key: drop_line(); break;
            case single_quoted:
            case double_quoted:
            case double_quoted_escape:
                draft_.unclosed_quote = true;
                solid_ = std::string::npos;
                push();
                break;
            case value_escape:
            case pre_value: solid_ = std::string::npos; push(); break;
            case value: push(); break;
            default: break;
        }
    }

    void refuse(std::string why, int line) {
        file_.refused = std::move(why);
        file_.refused_line = line;
        file_.lines.clear();
        file_.dropped.clear();
    }

    int line_at(std::size_t offset) {
        for (; counted_ < offset; ++counted_)
            if (text_[counted_] == '\n' || (text_[counted_] == '\r' && (counted_ + 1 >= text_.size() || text_[counted_ + 1] != '\n'))) ++line_;
        return line_;
    }

    std::string_view text_;
    CommentContinues comments_;
    EnvFile file_;
    State state_ = pre_key;
    std::size_t at_ = 0, begin_ = 0, equals_ = 0, solid_ = std::string::npos, counted_ = 0;
    std::string key_, value_;
    bool quoted_ = false;
    EnvLine draft_;
    int line_ = 1;
};

}  // namespace

systemd_text::Variables EnvFile::variables() const {
    systemd_text::Variables all;
    for (const EnvLine& line : lines) all[line.name] = line.value;
    return all;
}

std::string meant_name(std::string_view text, std::size_t* at) {
    const auto letter = [](char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_'; };
    const auto blank_before = text.find_last_of(" \t");
    std::size_t begin = blank_before == std::string_view::npos ? 0 : blank_before + 1;
    while (begin < text.size() && !letter(text[begin])) ++begin;
    if (at) *at = begin;
    std::string name(text.substr(begin));
    if (name.rfind("MINIO", 0) == 0) {
        std::replace(name.begin(), name.end(), '-', '_');
        std::replace(name.begin(), name.end(), '.', '_');
    }
    return valid_variable(name) ? name : std::string();
}

bool looks_like_endpoint(std::string_view word) {
    while (!word.empty() && (word.front() == '"' || word.front() == '\'')) word.remove_prefix(1);
    const bool url = word.rfind("http://", 0) == 0 || word.rfind("https://", 0) == 0;
    return url || (word.rfind("/", 0) == 0 && word.find("...") != std::string_view::npos);
}

EnvFile read_env_file(std::string_view text, CommentContinues comments) {
    return Reader(text, comments).read();
}

}  // namespace preflight
