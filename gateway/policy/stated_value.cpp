#include "gateway/policy/stated_value.hpp"

#include "gateway/base/text.hpp"
#include "gateway/http/authority.hpp"
#include "gateway/http/chars.hpp"
#include "gateway/http/request_target.hpp"
#include "gateway/policy/paths/path.hpp"

#include <algorithm>

namespace gateway::policy {

namespace {

// Hexadecimal digits of a SHA-256 fingerprint.
constexpr std::size_t fingerprint_digits = 64;

// This buffer keeps its memory. A thread reads one value at a time.
thread_local std::string normal_form;

std::string read_stated_header(std::string_view name, std::string_view text, http::part_value& out)
{
    if (!std::all_of(text.begin(), text.end(), http::is_field_text)) {
        return "a header has no control bytes";
    }
    http::read_header_line(name, text, out);
    return {};
}

std::string read_stated_host(std::string_view text, http::part_value& out)
{
    const std::string_view host = base::trimmed(text);
    if (!http::is_authority(host)) {
        return "expected a host such as example.com, and nothing else";
    }
    normalise_host(host, normal_form);
    out.set(normal_form);
    return {};
}

std::string read_stated_path(std::string_view text, http::part_value& out)
{
    if (text == "*") {
        out.set(text);
        return {};
    }
    if (!text.starts_with('/')) {
        return "expected a path that begins with a slash";
    }
    const auto [path, refused_because] = normalise_path(text, normal_form);
    out.set(without_final_slash(path));
    return std::string{refused_because};
}

std::string read_stated_method(std::string_view text, http::part_value& out)
{
    if (text == "CONNECT") {
        return "CONNECT is never served: no request has this method";
    }
    const auto refused = http::check_method(text);
    out.set(text);
    return refused ? std::string{refused->detail} : std::string{};
}

std::string read_stated_certificate(
    std::string_view name, std::string_view text, http::part_value& out
)
{
    if (name != "fingerprint") {
        out.set(text);
        return {};
    }
    normal_form.clear();
    for (const char c : text) {
        if (c != ':') {
            normal_form += base::to_lower(c);
        }
    }
    out.set(normal_form);
    const bool good = normal_form.size() == fingerprint_digits &&
                      normal_form.find_first_not_of("0123456789abcdef") == std::string::npos;
    return good ? std::string{} : "expected the 64 hexadecimal digits of a SHA-256 fingerprint";
}

std::string read_by_source(const key_part& part, std::string_view text, http::part_value& out)
{
    using source = key_part::source;
    switch (part.from) {
        case source::header:
            return read_stated_header(part.name, text, out);
        case source::cookie:
            http::read_cookie_value(text, out);
            return {};
        case source::query:
            http::read_query_value(text, out);
            return {};
        case source::cert:
            return read_stated_certificate(part.name, text, out);
        case source::method:
            return read_stated_method(text, out);
        case source::host:
            return read_stated_host(text, out);
        case source::path:
            return read_stated_path(text, out);
        case source::jwt:
        case source::route:
        case source::json:
        case source::descriptor:
        case source::client_ip:
            break;
    }
    out.add(text);
    return {};
}

}  // namespace

std::string read_stated_value(const key_part& part, std::string_view text, http::part_value& out)
{
    out.clear();
    std::string complaint = read_by_source(part, text, out);
    if (complaint.empty() && out.ambiguous()) {
        return "no request has this " + part.text + ", as it can be read in two ways";
    }
    if (complaint.empty() && out.text().empty()) {
        return "an empty " + part.text + " is as good as none";
    }
    return complaint;
}

}  // namespace gateway::policy
