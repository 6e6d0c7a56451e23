#include "gateway/http/parameter.hpp"

#include "gateway/base/hex.hpp"
#include "gateway/base/text.hpp"
#include "gateway/http/chars.hpp"

#include <algorithm>

namespace gateway::http {

namespace {

// Decodes `%u0041`, as some Microsoft servers do. Returns the character if it is ASCII, a byte
// above 0x7f if it is not, or -1 if the text does not begin with such an encoding.
int wide_percent_encoded(std::string_view text)
{
    constexpr std::size_t size = 6;
    if (text.size() < size || base::to_lower(text[1]) != 'u') {
        return -1;
    }
    int code = 0;
    for (const char c : text.substr(2, size - 2)) {
        const int digit = base::hex_digit(c);
        if (digit < 0) {
            return -1;
        }
        code = code * 16 + digit;
    }
    return std::min(code, 0xff);
}

bool is_ascii(char c)
{
    return static_cast<unsigned char>(c) < 0x80;
}

bool is_bracket(char c)
{
    return c == '[' || c == ']';
}

bool is_passed_over_in_front(char c)
{
    return !is_ascii(c) || base::is_control(c) || c == ' ' || c == '?' || c == '.' || is_bracket(c);
}

std::string_view without_front(std::string_view name)
{
    const auto first = std::find_if_not(name.begin(), name.end(), is_passed_over_in_front);
    return {first, name.end()};
}

// True if `rest` may follow the key in a name: blanks, an element of the parameter, or NUL and
// other control bytes, which may end a text.
bool may_follow_key(std::string_view rest)
{
    const auto end =
        std::find_if_not(rest.begin(), rest.end(), [](char c) { return c == ' ' || !is_ascii(c); });
    return end == rest.end() || is_bracket(*end) || base::is_control(*end);
}

}  // namespace

bool decode_parameter(std::string_view text, std::string& out)
{
    out.clear();
    bool good = true;
    for (std::size_t i = 0; i < text.size(); ++i) {
        char c = text[i];
        if (const int byte = base::percent_encoded(text.substr(i)); byte >= 0) {
            c = static_cast<char>(byte);
            i += 2;
        } else if (c == '%') {
            good = false;
            if (const int wide = wide_percent_encoded(text.substr(i)); wide >= 0) {
                c = static_cast<char>(wide);
                i += 5;
            }
        }
        good = good && !base::is_control(c);
        out += c == '+' ? ' ' : c;
    }
    return good;
}

bool may_be_read_as(std::string_view name, std::string_view key)
{
    name = without_front(name);
    key = without_front(key);
    key = key.substr(0, key.find_last_not_of(']') + 1);
    char last = 0;
    while (!name.empty() && !key.empty()) {
        const char c = name.front();
        name.remove_prefix(1);
        if (!is_ascii(c) || (c == ' ' && last == '[')) {
            continue;
        }
        if (fold(c) != fold(key.front())) {
            return false;
        }
        key.remove_prefix(1);
        last = c;
    }
    return key.empty() && may_follow_key(name);
}

}  // namespace gateway::http
