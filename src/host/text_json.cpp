#include "host/answer.h"

namespace preflight {
namespace {

constexpr char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

bool utf8(const std::string& text) {
    for (std::size_t i = 0; i < text.size();) {
        const auto c = static_cast<unsigned char>(text[i]);
        const int more = c < 0x80 ? 0 : c >= 0xc2 && c < 0xe0 ? 1 : (c & 0xf0) == 0xe0 ? 2 : c >= 0xf0 && c < 0xf5 ? 3 : -1;
        if (more < 0 || i + static_cast<std::size_t>(more) >= text.size()) return false;
        unsigned point = more == 0 ? c : c & (0x3fu >> more);
        for (int k = 1; k <= more; ++k) {
            const auto d = static_cast<unsigned char>(text[i + static_cast<std::size_t>(k)]);
            if ((d & 0xc0) != 0x80) return false;
            point = point << 6 | (d & 0x3fu);
        }
        const bool overlong = (more == 2 && point < 0x800) || (more == 3 && point < 0x10000);
        if (overlong || point > 0x10ffff || (point >= 0xd800 && point < 0xe000)) return false;
        i += static_cast<std::size_t>(more) + 1;
    }
    return true;
}

std::string encode(const std::string& bytes) {
    std::string out;
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        unsigned group = 0;
        for (std::size_t k = 0; k < 3; ++k) group = group << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0u);
        for (std::size_t k = 0; k < 4; ++k) out += k > bytes.size() - i ? '=' : alphabet[group >> (18 - 6 * k) & 63];
    }
    return out;
}

std::string decode(const std::string& text) {
    std::string out;
    unsigned group = 0;
    int bits = 0;
    for (const char c : text) {
        if (c == '=') break;
        const char* at = std::char_traits<char>::find(alphabet, 64, c);
        if (!at) throw Json::other_error::create(501, "not base64", nullptr);
        group = group << 6 | static_cast<unsigned>(at - alphabet);
        bits += 6;
        if (bits >= 8) {
            bits -= 8;
            out += static_cast<char>(group >> bits & 0xff);
        }
    }
    return out;
}

}  // namespace

Json text_to_json(const std::string& text) {
    if (utf8(text)) return text;
    return Json{{"base64", encode(text)}};
}

std::string text_from_json(const Json& json) {
    if (json.is_string()) return json.get<std::string>();
    return decode(json.at("base64").get<std::string>());
}

}  // namespace preflight
