#pragma once
// Text for a terminal: widths in characters, not bytes; nothing a report carries can move the cursor or colour the screen.

#include <string>
#include <string_view>

namespace preflight {

/// Breaks `text` at blanks so that no line is wider than `width`; lines after the first begin with `indent` blanks. A word
/// that is wider than the line stands alone on it. The first line is assumed to start at column `column`.
std::string wrap(std::string_view text, int width, int indent, int column);

/// Control characters and bytes that are not UTF-8 become '?'; with `ascii`, typographic characters become plain ones.
std::string printable(std::string_view text, bool ascii);

/// Width in characters of UTF-8 text.
int columns(std::string_view text);

}  // namespace preflight
