#include "gateway/server/question.hpp"

#include "gateway/base/text.hpp"
#include "gateway/http/chars.hpp"
#include "gateway/http/method.hpp"

#include <algorithm>
#include <optional>

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

// "http://host/path?query" or "/path?query".
bool read_target(std::string_view target, http::request_head& asked)
{
    if (const std::size_t scheme = target.find("://");
        !target.starts_with('/') && scheme != std::string_view::npos) {
        target.remove_prefix(scheme + 3);
        const std::size_t path = std::min(target.find_first_of("/?"), target.size());
        if (scheme == 0 || path == 0) {
            return false;
        }
        asked.authority = target.substr(0, path);
        target.remove_prefix(path);
        target = target.empty() ? "/" : target;
    }
    if (!target.starts_with('/')) {
        return false;
    }
    const std::size_t query = std::min(target.find('?'), target.size());
    asked.path = target.substr(0, query);
    asked.query = target.substr(query);
    return true;
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
    bool said = false;
    for (const char* name : {"X-Original-URL", "X-Original-URI", "X-Forwarded-Uri"}) {
        const auto target = only_value(head, name);
        if (!target) {
            return false;
        }
        if (target->empty()) {
            continue;
        }
        const std::string_view path = asked.path;
        const std::string_view query = asked.query;
        if (!read_target(*target, asked) ||
            (said && (path != asked.path || query != asked.query))) {
            return false;
        }
        said = true;
    }
    return true;
}

}  // namespace

std::string_view read_question(
    const http::request_head& head, bool peer_trusted, http::request_head& asked
)
{
    asked = head;
    asked.max_forwards.reset();  // it is for us, and says nothing of what is asked about
    if (!peer_trusted) {
        return {};
    }
    const auto host = only_value(head, "X-Forwarded-Host");
    asked.authority = host && !host->empty() ? *host : head.authority;
    if (!host || !read_targets(head, asked)) {
        return "the request that is asked about has two targets, or none";
    }
    return read_method(head, asked);
}

}  // namespace gateway::server
