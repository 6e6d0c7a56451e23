#include "gateway/base/ip_address.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>

namespace gateway::base {

namespace {

constexpr std::array<std::uint8_t, 12> v4_mapping{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

// Takes a number of at most `max_digits` digits off the front of `text`.
std::optional<unsigned> take_number(std::string_view& text, int base, std::size_t max_digits)
{
    unsigned value = 0;
    const char* const end = text.data() + std::min(text.size(), max_digits);
    const auto [stop, error] = std::from_chars(text.data(), end, value, base);
    if (error != std::errc{}) {
        return std::nullopt;
    }
    text.remove_prefix(static_cast<std::size_t>(stop - text.data()));
    return value;
}

// Returns the value of the digit at `p`; more than 9 if there is none.
unsigned digit_at(const char* p, const char* end)
{
    return p != end ? static_cast<unsigned char>(*p) - unsigned{'0'} : 10;
}

// Takes one to three digits without leading zeros, at most 255, and moves `p` behind them.
bool take_octet(const char*& p, const char* end, std::uint8_t& out)
{
    unsigned value = digit_at(p, end);
    if (value > 9) {
        return false;
    }
    if (const unsigned second = digit_at(++p, end); second <= 9) {
        if (value == 0) {
            return false;
        }
        value = value * 10 + second;
        if (const unsigned third = digit_at(++p, end); third <= 9) {
            value = value * 10 + third;
            ++p;
        }
    }
    out = static_cast<std::uint8_t>(value);
    return value <= 255;
}

bool parse_v4(std::string_view text, std::uint8_t* out)
{
    const char* p = text.data();
    const char* const end = p + text.size();
    for (int i = 0; i < 4; ++i) {
        if (i > 0 && (p == end || *p++ != '.')) {
            return false;
        }
        if (!take_octet(p, end, out[i])) {
            return false;
        }
    }
    return p == end;
}

// Parses the forms of RFC 4291 §2.2: groups of 16 bits, at most one "::" for one or more zero
// groups, and a dotted quad in place of the last two groups.
bool parse_v6(std::string_view text, ip_address::bytes& out)
{
    std::size_t filled = 0;
    // Position of "::"; past the end if there is none.
    std::size_t gap = out.size() + 1;
    if (text.starts_with("::")) {
        gap = 0;
        text.remove_prefix(2);
    }
    while (!text.empty() && filled < out.size()) {
        const std::size_t group_end = text.find(':');
        if (group_end == std::string_view::npos && text.find('.') != std::string_view::npos) {
            if (filled > out.size() - 4 || !parse_v4(text, &out[filled])) {
                return false;
            }
            filled += 4;
            text = {};
            break;
        }
        const auto group = take_number(text, 16, 4);
        if (!group) {
            return false;
        }
        out[filled++] = static_cast<std::uint8_t>(*group >> 8);
        out[filled++] = static_cast<std::uint8_t>(*group & 0xff);
        if (text.starts_with("::") && gap > out.size()) {
            gap = filled;
            text.remove_prefix(2);
        } else if (text.starts_with(':') && text.size() > 1) {
            text.remove_prefix(1);
        } else if (!text.empty()) {
            return false;
        }
    }
    if (!text.empty()) {
        return false;
    }
    if (gap > out.size()) {
        return filled == out.size();
    }
    if (filled == out.size()) {
        return false;
    }
    // The groups after the gap move to the end; the gap is zeros.
    const std::size_t after = filled - gap;
    std::memmove(out.data() + out.size() - after, out.data() + gap, after);
    std::memset(out.data() + gap, 0, out.size() - filled);
    return true;
}

}  // namespace

ip_address ip_address::v4(std::uint32_t host_order)
{
    bytes mapped{};
    std::copy(v4_mapping.begin(), v4_mapping.end(), mapped.begin());
    for (int i = 0; i < 4; ++i) {
        mapped[static_cast<std::size_t>(12 + i)] =
            static_cast<std::uint8_t>(host_order >> (24 - 8 * i));
    }
    return ip_address{mapped};
}

std::optional<ip_address> ip_address::parse(std::string_view text)
{
    bytes parsed{};
    std::copy(v4_mapping.begin(), v4_mapping.end(), parsed.begin());
    if (parse_v4(text, &parsed[12])) {
        return ip_address{parsed};
    }
    parsed = {};
    return parse_v6(text, parsed) ? std::optional{ip_address{parsed}} : std::nullopt;
}

bool ip_address::is_v4() const
{
    return std::equal(v4_mapping.begin(), v4_mapping.end(), bytes_.begin());
}

ip_address ip_address::masked(int v4_length, int v6_length) const
{
    int kept = is_v4() ? 96 + v4_length : v6_length;
    ip_address result = *this;
    if (kept == 128) {
        return result;
    }
    for (std::uint8_t& byte : result.bytes_) {
        const int bits = std::clamp(kept, 0, 8);
        byte = static_cast<std::uint8_t>(byte & (0xff00 >> bits));
        kept -= 8;
    }
    return result;
}

std::string ip_address::to_string() const
{
    std::string text;
    const auto append = [&text](unsigned number, int base) {
        std::array<char, 8> digits;
        const char* const first = digits.data();
        const char* const end =
            std::to_chars(digits.data(), digits.data() + digits.size(), number, base).ptr;
        text.append(first, end);
    };
    if (is_v4()) {
        for (std::size_t i = 12; i < 16; ++i) {
            append(bytes_[i], 10);
            text += '.';
        }
        text.pop_back();
        return text;
    }

    std::array<unsigned, 8> groups;
    for (std::size_t i = 0; i < groups.size(); ++i) {
        groups[i] = static_cast<unsigned>(bytes_[2 * i] << 8 | bytes_[2 * i + 1]);
    }
    // RFC 5952 §4.2: the first longest run of two or more zero groups becomes "::".
    std::size_t gap = groups.size();
    std::size_t gap_length = 1;
    for (std::size_t i = 0; i < groups.size(); ++i) {
        std::size_t length = 0;
        while (i + length < groups.size() && groups[i + length] == 0) {
            ++length;
        }
        if (length > gap_length) {
            gap = i;
            gap_length = length;
        }
    }
    for (std::size_t i = 0; i < groups.size();) {
        if (i == gap) {
            text += ':';
            i += gap_length;
            if (i == groups.size()) {
                text += ':';
            }
            continue;
        }
        if (i > 0) {
            text += ':';
        }
        append(groups[i++], 16);
    }
    return text;
}

}  // namespace gateway::base
