#include "gateway/replay/logs/json_cursor.hpp"

#include "gateway/base/hex.hpp"

#include <array>
#include <bit>
#include <cstring>

namespace gateway::replay {

namespace {

// Moves on to the next character that is no blank, or to the end.
void skip_blanks(char*& at, const char* end)
{
    while (at != end && (*at == ' ' || *at == '\t' || *at == '\r' || *at == '\n')) {
        ++at;
    }
}

// Moves behind the character if it is next. Returns false if it is not.
bool accept(char*& at, const char* end, char c)
{
    if (at == end || *at != c) {
        return false;
    }
    ++at;
    return true;
}

// [c] is true if the byte c ends a number or a literal.
constexpr std::array<bool, 256> ends_word = [] {
    std::array<bool, 256> ends{};
    for (const char c : {' ', '\t', '\r', '\n', ',', '}', ']'}) {
        ends[static_cast<unsigned char>(c)] = true;
    }
    return ends;
}();

// Compares eight bytes at a time. A call of memcmp() takes longer than most leads are long.
bool is_equal(const char* at, std::string_view text)
{
    constexpr std::size_t step = sizeof(std::uint64_t);
    if (text.size() < step) {
        return std::memcmp(at, text.data(), text.size()) == 0;
    }
    const auto is_same_word = [at, text](std::size_t i) {
        std::uint64_t a = 0;
        std::uint64_t b = 0;
        std::memcpy(&a, at + i, step);
        std::memcpy(&b, text.data() + i, step);
        return a == b;
    };
    for (std::size_t i = 0; i + step < text.size(); i += step) {
        if (!is_same_word(i)) {
            return false;
        }
    }
    return is_same_word(text.size() - step);
}

// Reads the four digits behind "\u". Returns -1 if there are none.
int read_unit(const char* from, const char* end)
{
    if (end - from < 4) {
        return -1;
    }
    int unit = 0;
    for (int i = 0; i < 4; ++i) {
        const int digit = base::hex_digit(from[i]);
        if (digit < 0) {
            return -1;
        }
        unit = unit * 16 + digit;
    }
    return unit;
}

char* put_utf8(char* to, unsigned point)
{
    const auto byte = [](unsigned value) { return static_cast<char>(value); };
    if (point < 0x80) {
        *to++ = byte(point);
    } else if (point < 0x800) {
        *to++ = byte(0xc0 | (point >> 6));
        *to++ = byte(0x80 | (point & 0x3f));
    } else if (point < 0x10000) {
        *to++ = byte(0xe0 | (point >> 12));
        *to++ = byte(0x80 | ((point >> 6) & 0x3f));
        *to++ = byte(0x80 | (point & 0x3f));
    } else {
        *to++ = byte(0xf0 | (point >> 18));
        *to++ = byte(0x80 | ((point >> 12) & 0x3f));
        *to++ = byte(0x80 | ((point >> 6) & 0x3f));
        *to++ = byte(0x80 | (point & 0x3f));
    }
    return to;
}

char plain_escape(char c)
{
    switch (c) {
        case 'b':
            return '\b';
        case 'f':
            return '\f';
        case 'n':
            return '\n';
        case 'r':
            return '\r';
        case 't':
            return '\t';
        case '"':
        case '\\':
        case '/':
            return c;
        default:
            return '\0';
    }
}

// Replaces one escape; `from` is behind the backslash. Returns the position behind the escape, or
// null if it is none.
char* replace_escape(char* from, const char* end, char*& to)
{
    if (from == end) {
        return nullptr;
    }
    if (*from != 'u') {
        const char plain = plain_escape(*from);
        if (plain == '\0') {
            return nullptr;
        }
        *to++ = plain;
        return from + 1;
    }
    const int unit = read_unit(from + 1, end);
    if (unit < 0) {
        return nullptr;
    }
    from += 5;
    auto point = static_cast<unsigned>(unit);
    if (point >= 0xd800 && point < 0xdc00 && end - from >= 6 && from[0] == '\\' && from[1] == 'u') {
        const int low = read_unit(from + 2, end);
        if (low >= 0xdc00 && low < 0xe000) {
            point = 0x10000 + ((point - 0xd800) << 10) + (static_cast<unsigned>(low) - 0xdc00);
            from += 6;
        }
    }
    to = put_utf8(to, point);
    return from;
}

static_assert(std::endian::native == std::endian::little, "first_special counts from the low end");

// Returns the first quote or backslash, or the end. Looks at eight bytes at a time.
char* first_special(char* at, char* end)
{
    constexpr std::uint64_t ones = 0x0101010101010101U;
    constexpr std::uint64_t highs = ones * 0x80;
    const auto zeros = [](std::uint64_t v) { return (v - ones) & ~v & highs; };
    for (; end - at >= 8; at += 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, at, sizeof word);
        const std::uint64_t found = zeros(word ^ (ones * '"')) | zeros(word ^ (ones * '\\'));
        if (found != 0) {
            // The lowest of these bits is right, those above it may be a carry's.
            return at + std::countr_zero(found) / 8;
        }
    }
    while (at != end && *at != '"' && *at != '\\') {
        ++at;
    }
    return at;
}

// Reads a string; `at` is behind the quote. Returns the position behind the closing quote, or null.
char* read_string(char* at, char* end, std::span<char>& out)
{
    char* const begin = at;
    at = first_special(at, end);
    char* to = at;
    while (at != end && *at != '"') {
        if (*at == '\\') {
            at = replace_escape(at + 1, end, to);
            if (at == nullptr) {
                return nullptr;
            }
        } else {
            *to++ = *at++;
        }
    }
    out = {begin, to};
    return at == end ? nullptr : at + 1;
}

// Returns the position behind an object or array that begins here, or null if it does not end.
char* skip_nested(char* at, const char* end)
{
    int depth = 0;
    for (; at != end; ++at) {
        switch (*at) {
            case '{':
            case '[':
                ++depth;
                break;
            case '}':
            case ']':
                if (--depth == 0) {
                    return at + 1;
                }
                break;
            case '"':
                for (++at; at != end && *at != '"'; ++at) {
                    at += *at == '\\' && at + 1 != end ? 1 : 0;
                }
                if (at == end) {
                    return nullptr;
                }
                break;
            default:
                break;
        }
    }
    return nullptr;
}

// Reads the value that begins here. Returns the position behind it, or null.
char* read_value(char* at, char* end, json_value& out)
{
    if (at == end) {
        return nullptr;
    }
    if (*at == '"') {
        out.is = json_kind::string;
        return read_string(at + 1, end, out.text);
    }
    char* const begin = at;
    if (*at == '{' || *at == '[') {
        out.is = *at == '{' ? json_kind::object : json_kind::array;
        at = skip_nested(at, end);
    } else {
        out.is = *at == '-' || (*at >= '0' && *at <= '9') ? json_kind::number : json_kind::literal;
        while (at != end && !ends_word[static_cast<unsigned char>(*at)]) {
            ++at;
        }
        at = at == begin ? nullptr : at;
    }
    if (at != nullptr) {
        out.text = {begin, at};
    }
    return at;
}

}  // namespace

json_cursor::json_cursor(std::span<char> text) : at_(text.data()), end_(text.data() + text.size())
{
    skip_blanks(at_, end_);
    if (!accept(at_, end_, '{')) {
        at_ = end_;
    }
}

// Returns true, and moves on, if the text goes on with this lead.
bool json_cursor::accept_lead(std::string_view likely)
{
    const bool is_next = !likely.empty() && static_cast<std::size_t>(end_ - at_) > likely.size() &&
                         is_equal(at_, likely);
    at_ += is_next ? likely.size() : 0;
    first_ = first_ && !is_next;
    return is_next;
}

bool json_cursor::read_name(std::string_view& out)
{
    std::span<char> name;
    char* const behind = accept(at_, end_, '"') ? read_string(at_, end_, name) : nullptr;
    at_ = behind == nullptr ? end_ : behind;
    out = {name.data(), name.size()};
    return behind != nullptr;
}

// Reads the bytes in front of a value. Returns false at the end of the object.
bool json_cursor::read_lead(json_member& out)
{
    char* const begin = at_;
    skip_blanks(at_, end_);
    if (accept(at_, end_, '}')) {
        skip_blanks(at_, end_);
        complete_ = at_ == end_;
        return false;
    }
    if (!first_) {
        if (!accept(at_, end_, ',')) {
            return false;
        }
        skip_blanks(at_, end_);
    }
    first_ = false;
    if (!read_name(out.name)) {
        return false;
    }
    // A name that had escapes has become shorter.
    const bool had_escapes = out.name.data() + out.name.size() + 1 != at_;
    skip_blanks(at_, end_);
    if (!accept(at_, end_, ':')) {
        return false;
    }
    skip_blanks(at_, end_);
    out.lead = had_escapes ? std::string_view{} : std::string_view{begin, at_};
    return true;
}

bool json_cursor::next(json_member& out, std::string_view likely)
{
    out.expected = accept_lead(likely);
    if (!out.expected && !read_lead(out)) {
        return false;
    }
    char* const behind = read_value(at_, end_, out.value);
    if (behind == nullptr) {
        return false;
    }
    at_ = behind;
    return true;
}

json_elements::json_elements(std::span<char> text)
    : at_(text.data()), end_(text.data() + text.size())
{
    if (!accept(at_, end_, '[')) {
        at_ = end_;
    }
}

bool json_elements::next(json_value& out)
{
    skip_blanks(at_, end_);
    if (!first_) {
        if (!accept(at_, end_, ',')) {
            return false;
        }
        skip_blanks(at_, end_);
    }
    first_ = false;
    if (at_ == end_ || *at_ == ']') {
        return false;
    }
    char* const behind = read_value(at_, end_, out);
    at_ = behind == nullptr ? end_ : behind;
    return behind != nullptr;
}

}  // namespace gateway::replay
