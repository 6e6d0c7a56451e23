#include "gateway/client/requests/asked_request.hpp"

#include "gateway/base/text.hpp"
#include "gateway/http/authority.hpp"
#include "gateway/http/request_target.hpp"
#include "gateway/policy/paths/path.hpp"

#include <optional>
#include <string>

namespace gateway::client {

namespace {

// Returns the value of a header, or an empty text if it is absent. It may be repeated with the same
// value. Returns nothing if it has two values.
std::optional<std::string_view> only_value(const http::request_head& head, std::string_view name)
{
    std::string_view value;
    for (const http::field& f : head.fields) {
        if (!base::equal_ignoring_case(f.name, name) || f.value.empty()) {
            continue;
        }
        if (!value.empty() && value != f.value) {
            return std::nullopt;
        }
        value = f.value;
    }
    return value;
}

// True if both are one host, or one of them is not given.
bool agree(std::string_view host, std::string_view other)
{
    if (host.empty() || other.empty() || host == other) {
        return true;
    }
    thread_local std::string a;  // Both keep their memory.
    thread_local std::string b;
    policy::normalise_host(host, a);
    policy::normalise_host(other, b);
    return a == b;
}

// Reads the method. A proxy sets one family of these headers and may let a client's others pass, so
// all of them are read, and must agree.
std::optional<http::rejection> read_method(
    const http::request_head& head, http::request_head& asked
)
{
    bool named = false;
    for (const char* name : {"X-Original-Method", "X-Forwarded-Method"}) {
        const auto method = only_value(head, name);
        if (!method || (named && !method->empty() && *method != asked.method)) {
            return http::rejection{400, "the request that is asked about has two methods"};
        }
        if (!method->empty()) {
            asked.method = *method;
            named = true;
        }
    }
    return http::check_method(asked.method);
}

constexpr http::rejection two_targets{
    400, "the request that is asked about has two targets or hosts"};

// Reads the target of `asked` anew, as if it stood in a request line.
std::optional<http::rejection> read_target(std::string_view target, http::request_head& asked)
{
    if (!http::is_target_text(target)) {
        return http::bad_target_text;
    }
    asked.target = target;
    asked.absolute_form = false;
    return http::read_target(asked);
}

std::optional<http::rejection> read_targets(
    const http::request_head& head, http::request_head& asked
)
{
    const auto host = only_value(head, "X-Forwarded-Host");
    if (!host) {
        return two_targets;
    }
    if (!host->empty() && !http::is_authority(*host)) {
        return http::rejection{400, "X-Forwarded-Host is not one host with an optional port"};
    }
    std::string_view named_host = *host;
    bool named = false;
    for (const char* name : {"X-Original-URL", "X-Original-URI", "X-Forwarded-Uri"}) {
        const auto text = only_value(head, name);
        if (text && text->empty()) {
            continue;
        }
        http::request_head one;
        one.method = asked.method;
        if (!text) {
            return two_targets;
        }
        if (const auto why = read_target(*text, one)) {
            return why;
        }
        if (!agree(one.authority, named_host) ||
            (named && (one.path != asked.path || one.query != asked.query))) {
            return two_targets;
        }
        asked.target = one.target;
        asked.path = one.path;
        asked.query = one.query;
        named_host = one.authority.empty() ? named_host : one.authority;
        named = true;
    }
    asked.authority = named_host.empty() ? head.authority : named_host;
    // The target of the subrequest was checked with the method of the subrequest, not with this
    // one.
    return named ? std::nullopt : read_target(asked.target, asked);
}

}  // namespace

std::optional<http::rejection> read_asked_request(
    const http::request_head& head, bool peer_trusted, http::request_head& asked
)
{
    asked = head;
    asked.max_forwards.reset();  // It belongs to the subrequest.
    if (!peer_trusted) {
        return std::nullopt;
    }
    if (const auto why = read_method(head, asked)) {
        return why;
    }
    return read_targets(head, asked);
}

}  // namespace gateway::client
