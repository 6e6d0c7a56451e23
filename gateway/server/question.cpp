#include "gateway/server/question.hpp"

#include "gateway/base/text.hpp"
#include "gateway/http/chars.hpp"

#include <algorithm>
#include <array>
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

// The first of these that is there.
template <std::size_t Count>
std::optional<std::string_view> first_of(
    const http::request_head& head, const std::array<std::string_view, Count>& names
)
{
    for (const std::string_view name : names) {
        const auto value = only_value(head, name);
        if (!value || !value->empty()) {
            return value;
        }
    }
    return std::string_view{};
}

// "http://host/path?query" or "/path?query".
bool read_target(std::string_view target, http::request_head& asked)
{
    if (const std::size_t scheme = target.find("://");
        !target.starts_with('/') && scheme != std::string_view::npos) {
        target.remove_prefix(scheme + 3);
        const std::size_t path = std::min(target.find_first_of("/?"), target.size());
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

}  // namespace

bool read_question(const http::request_head& head, bool peer_trusted, http::request_head& asked)
{
    using names = std::array<std::string_view, 2>;
    asked = head;
    if (!peer_trusted) {
        return true;
    }
    const auto method = first_of(head, names{"X-Original-Method", "X-Forwarded-Method"});
    const auto target = first_of(
        head, std::array<std::string_view, 3>{"X-Original-URL", "X-Original-URI", "X-Forwarded-Uri"}
    );
    const auto host = only_value(head, "X-Forwarded-Host");
    if (!method || !target || !host) {
        return false;
    }
    asked.method = method->empty() ? head.method : *method;
    asked.authority = host->empty() ? head.authority : *host;
    return http::is_token(asked.method) && (target->empty() || read_target(*target, asked));
}

}  // namespace gateway::server
