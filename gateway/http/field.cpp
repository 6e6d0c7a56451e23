#include "gateway/http/field.hpp"

#include "gateway/base/text.hpp"
#include "gateway/http/chars.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace gateway::http {

namespace {

struct known {
    std::string_view name;
    field_name id;
};

constexpr std::array<known, 31> known_names{{
    // The names are sorted by length.
    {"te", field_name::te},
    {"via", field_name::via},
    {"date", field_name::date},
    {"host", field_name::host},
    {"cookie", field_name::cookie},
    {"expect", field_name::expect},
    {"trailer", field_name::trailer},
    {"upgrade", field_name::upgrade},
    {"forwarded", field_name::forwarded},
    {"x-real-ip", field_name::x_real_ip},
    {"connection", field_name::connection},
    {"keep-alive", field_name::keep_alive},
    {"tracestate", field_name::tracestate},
    {"client-cert", field_name::client_cert},
    {"traceparent", field_name::traceparent},
    {"script_name", field_name::rewrites_target},  // Servers obey this spelling.
    {"max-forwards", field_name::max_forwards},
    {"x-request-id", field_name::x_request_id},
    {"x-rewrite-url", field_name::rewrites_target},
    {"x-script-name", field_name::rewrites_target},
    {"content-length", field_name::content_length},
    {"http2-settings", field_name::http2_settings},
    {"x-forwarded-for", field_name::x_forwarded_for},
    {"x-forwarded-host", field_name::x_forwarded_host},
    {"proxy-connection", field_name::proxy_connection},
    {"transfer-encoding", field_name::transfer_encoding},
    {"client-cert-chain", field_name::client_cert},
    {"x-forwarded-proto", field_name::x_forwarded_proto},
    {"x-ratelimit-limit", field_name::x_ratelimit},
    {"x-ratelimit-reset", field_name::x_ratelimit},
    {"x-ratelimit-remaining", field_name::x_ratelimit},
}};

static_assert(std::is_sorted(
    known_names.begin(),
    known_names.end(),
    [](const known& a, const known& b) { return a.name.size() < b.name.size(); }
));

// Known beginnings of names. More characters must follow.
constexpr std::array<known, 2> known_beginnings{{
    {"x-forwarded-", field_name::x_forwarded},
    {"x-original-", field_name::rewrites_target},
}};

constexpr std::size_t shortest_beginning = known_beginnings.back().name.size();

constexpr std::size_t longest = known_names.back().name.size();

// first_of[n] is the first known name of n characters or more. A name is compared with those of its
// own length, of which there are five at most.
constexpr std::array<std::uint8_t, longest + 2> first_of = [] {
    std::array<std::uint8_t, longest + 2> first{};
    for (std::size_t n = 0; n < first.size(); ++n) {
        while (first[n] < known_names.size() && known_names[first[n]].name.size() < n) {
            ++first[n];
        }
    }
    return first;
}();

// Returns a letter's bit in `initials`, which holds the first letters of the known names of each
// length. One look there is enough to rule out most other names.
constexpr std::uint32_t letter_bit(char c)
{
    return std::uint32_t{1} << (c & 31);
}

constexpr std::array<std::uint32_t, longest + 1> initials = [] {
    std::array<std::uint32_t, longest + 1> letters{};
    for (const known& k : known_names) {
        letters[k.name.size()] |= letter_bit(k.name.front());
    }
    return letters;
}();

// Returns the bits in which the words at `position` of two texts differ.
template <typename Word>
Word difference(std::string_view a, std::string_view b, std::size_t position)
{
    Word of_a = 0;
    Word of_b = 0;
    std::memcpy(&of_a, a.data() + position, sizeof of_a);
    std::memcpy(&of_b, b.data() + position, sizeof of_b);
    return of_a ^ of_b;
}

// True if `name`, a token, is `lower` apart from the case of letters. The two cases of a letter
// differ in bit 5, and no token character differs from a digit, '-' or '_' in that bit only.
// Requires: both have the same length.
bool is_name(std::string_view name, std::string_view lower)
{
    constexpr std::uint64_t any_case = ~std::uint64_t{0x2020202020202020};
    const std::size_t size = lower.size();
    if (size < sizeof(std::uint32_t)) {
        return base::equal_ignoring_case(name, lower);
    }
    std::uint64_t differs = 0;
    if (size < sizeof(std::uint64_t)) {
        differs = difference<std::uint32_t>(name, lower, 0);
        differs |= difference<std::uint32_t>(name, lower, size - sizeof(std::uint32_t));
        return (differs & any_case) == 0;
    }
    for (std::size_t i = 0; i + sizeof(std::uint64_t) < size; i += sizeof(std::uint64_t)) {
        differs |= difference<std::uint64_t>(name, lower, i);
    }
    differs |= difference<std::uint64_t>(name, lower, size - sizeof(std::uint64_t));
    return (differs & any_case) == 0;
}

// Classifies `name` by comparing it with `candidate`, a known name of the same length.
field_name read(std::string_view name, const known& candidate)
{
    if (is_name(name, candidate.name)) {
        return candidate.id;
    }
    return reads_as(name, candidate.name) ? field_name::disguised : field_name::other;
}

bool has_other_marks(std::string_view name)
{
    return std::any_of(name.begin(), name.end(), [](char c) { return fold(c) == '-' && c != '-'; });
}

field_name read_beginning(std::string_view name)
{
    for (const known& k : known_beginnings) {
        const std::size_t size = k.name.size();
        if (name.size() > size && fold(name[2]) == k.name[2] &&  // Most X- names fail here.
            reads_as(name.substr(0, size), k.name)) {
            return has_other_marks(name) ? field_name::disguised : k.id;
        }
    }
    return field_name::other;
}

}  // namespace

bool reads_as(std::string_view name, std::string_view lower)
{
    return std::equal(name.begin(), name.end(), lower.begin(), lower.end(), [](char a, char b) {
        return fold(a) == fold(b);
    });
}

field_name classify(std::string_view name)
{
    const std::size_t size = name.size();
    if (size <= longest && (initials[size] & letter_bit(name.front())) != 0) {
        for (std::size_t i = first_of[size]; i < first_of[size + 1]; ++i) {
            const field_name id = read(name, known_names[i]);
            if (id != field_name::other) {
                return id;
            }
        }
    }
    return size > shortest_beginning && fold(name.front()) == 'x' ? read_beginning(name)
                                                                  : field_name::other;
}

}  // namespace gateway::http
