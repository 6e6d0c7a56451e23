// Header fields as slices of the bytes they arrived in, and the few names that a proxy must know.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gateway::http {

enum class field_name : std::uint8_t {
    other,
    // Client-Cert or Client-Cert-Chain.
    client_cert,
    connection,
    content_length,
    cookie,
    date,
    expect,
    forwarded,
    host,
    http2_settings,
    keep_alive,
    max_forwards,
    proxy_connection,
    // X-Original-<anything>, and others by which frameworks replace a request's path, method or
    // host.
    rewrites_target,
    te,
    traceparent,
    tracestate,
    trailer,
    transfer_encoding,
    upgrade,
    via,
    // X-Forwarded-<anything else>.
    x_forwarded,
    x_forwarded_for,
    x_forwarded_host,
    x_forwarded_proto,
    // X-RateLimit-Limit, X-RateLimit-Remaining or X-RateLimit-Reset.
    x_ratelimit,
    x_real_ip,
    x_request_id,
    // One of the above with another mark for '-', such as '_'. Servers that turn names into
    // variables (CGI) would take it for the real one, so it is never forwarded.
    disguised,
};

// `field_name_set` holds names for one purpose as bits. A lookup costs one shift.
class field_name_set {
public:
    constexpr field_name_set(std::initializer_list<field_name> names)
    {
        for (const field_name name : names) {
            bits_ |= bit_of(name);
        }
    }

    constexpr bool contains(field_name name) const { return (bits_ & bit_of(name)) != 0; }

private:
    std::uint32_t bits_ = 0;

    static constexpr std::uint32_t bit_of(field_name name)
    {
        return std::uint32_t{1} << static_cast<unsigned>(name);
    }
};

static_assert(static_cast<unsigned>(field_name::disguised) < 32, "the last of them has a bit");

// Fields that concern one connection only, by their names. They are not forwarded, except the
// Upgrade of a 426 response.
inline constexpr field_name_set hop_by_hop{
    field_name::connection,
    field_name::http2_settings,
    field_name::keep_alive,
    field_name::proxy_connection,
    field_name::te,
    field_name::trailer,
    field_name::transfer_encoding,
    field_name::upgrade,
    field_name::disguised,
};

// Fields that state for whom a request is, where it came in and what it asked for there. They are
// forwarded from trusted peers only, so those of other peers cannot become part of a key.
inline constexpr field_name_set from_trusted_peers{
    field_name::forwarded,
    field_name::rewrites_target,
    field_name::x_forwarded,
    field_name::x_forwarded_for,
    field_name::x_forwarded_host,
    field_name::x_forwarded_proto,
    field_name::x_real_ip,
};

// Returns the known name that `name` is, ignoring the case of letters. Returns `disguised` if it is
// one with another mark for '-', and `other` for all other names.
// Requires: `name` is a token.
field_name classify(std::string_view name);

// True if a server that turns names into variables could take `name` for `lower`, a name in lower
// case.
bool reads_as(std::string_view name, std::string_view lower);

// True if a list (RFC 9110 §5.6.1) has no element.
inline bool is_empty_list(std::string_view value)
{
    return value.find_first_not_of(", \t") == std::string_view::npos;
}

struct field {
    field_name id = field_name::other;
    // True if a Connection field names this one. It then concerns one connection only, and is not
    // forwarded (RFC 9110 §7.6.1).
    bool nominated = false;
    std::string_view name{};
    // The value, without the blanks around it.
    std::string_view value{};
    // The whole line, CRLF included.
    std::string_view line{};
};

using field_list = std::vector<field>;

// Appends `before`, then the lines of all fields for which `keep(field)` is true. Lines that lie
// next to each other are copied together.
template <typename Keep>
void append_lines(
    std::string_view before, std::span<const field> fields, Keep keep, std::string& out
)
{
    const char* begin = before.data();
    const char* end = begin + before.size();
    for (const field& f : fields) {
        if (!keep(f)) {
            continue;
        }
        if (f.line.data() != end) {
            out.append(begin, static_cast<std::size_t>(end - begin));
            begin = f.line.data();
        }
        end = f.line.data() + f.line.size();
    }
    out.append(begin, static_cast<std::size_t>(end - begin));
}

}  // namespace gateway::http
