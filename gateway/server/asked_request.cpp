#include "gateway/server/asked_request.hpp"

#include "gateway/base/text.hpp"
#include "gateway/http/authority.hpp"
#include "gateway/http/chars.hpp"
#include "gateway/http/method.hpp"
#include "gateway/policy/path.hpp"

#include <algorithm>
#include <optional>
#include <string>

namespace gateway::server {

namespace {

// The value of a header that is said once, or several times the same; empty: it is not there.
// Nothing: it says two things.
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

// A target as it is told; an empty host: none is.
struct told_target {
    std::string_view host;
    std::string_view path;
    std::string_view query;
};

// "http://host/path?query" or "/path?query"; nothing: it is neither.
std::optional<told_target> read_target(std::string_view text)
{
    told_target told;
    if (const std::size_t scheme = text.find("://");
        !text.starts_with('/') && scheme != std::string_view::npos) {
        text.remove_prefix(scheme + 3);
        told.host = text.substr(0, text.find_first_of("/?"));
        if (scheme == 0 || !http::is_authority(told.host)) {
            return std::nullopt;
        }
        text.remove_prefix(told.host.size());
        text = text.empty() ? "/" : text;
    }
    if (!text.starts_with('/')) {
        return std::nullopt;
    }
    const std::size_t query = std::min(text.find('?'), text.size());
    told.path = text.substr(0, query);
    told.query = text.substr(query);
    return told;
}

// Whether they are one host, or not both are told.
bool agree(std::string_view host, std::string_view other)
{
    if (host.empty() || other.empty() || host == other) {
        return true;
    }
    thread_local std::string a;  // they keep their memory
    thread_local std::string b;
    policy::normalise_host(host, a);
    policy::normalise_host(other, b);
    return a == b;
}

// Some proxies make a list of it, of which anybody may have said the beginning.
bool is_one_host(std::string_view text)
{
    return http::is_authority(text) && text.find(',') == std::string_view::npos;
}

// A proxy sets one family of these headers and may let a client's others pass: so all of them are
// read, and must say the same.
std::string_view read_method(const http::request_head& head, http::request_head& asked)
{
    bool said = false;
    for (const char* name : {"X-Original-Method", "X-Forwarded-Method"}) {
        const auto method = only_value(head, name);
        if (!method || (said && !method->empty() && *method != asked.method)) {
            return "the request that is asked about has two methods";
        }
        if (!method->empty()) {
            asked.method = *method;
            said = true;
        }
    }
    if (!http::is_token(asked.method)) {
        return "the request that is asked about has no valid method";
    }
    return http::standard_in_another_case(asked.method).empty() ? std::string_view{}
                                                                : http::method_in_another_case;
}

bool read_targets(const http::request_head& head, http::request_head& asked)
{
    const auto host = only_value(head, "X-Forwarded-Host");
    if (!host || (!host->empty() && !is_one_host(*host))) {
        return false;
    }
    told_target told{.host = *host, .path = {}, .query = {}};
    for (const char* name : {"X-Original-URL", "X-Original-URI", "X-Forwarded-Uri"}) {
        const auto text = only_value(head, name);
        if (text && text->empty()) {
            continue;
        }
        const auto target = text ? read_target(*text) : std::nullopt;
        const bool said = !told.path.empty();
        if (!target || !agree(target->host, told.host) ||
            (said && (target->path != told.path || target->query != told.query))) {
            return false;
        }
        told.path = target->path;
        told.query = target->query;
        told.host = target->host.empty() ? told.host : target->host;
    }
    if (!told.path.empty()) {
        asked.path = told.path;
        asked.query = told.query;
    }
    asked.authority = told.host.empty() ? head.authority : told.host;
    return true;
}

}  // namespace

std::string_view read_asked_request(
    const http::request_head& head, bool peer_trusted, http::request_head& asked
)
{
    asked = head;
    asked.max_forwards.reset();  // it is for us, and says nothing of what is asked about
    if (!peer_trusted) {
        return {};
    }
    if (!read_targets(head, asked)) {
        return "the request that is asked about has two targets or hosts, or what is none";
    }
    return read_method(head, asked);
}

}  // namespace gateway::server
