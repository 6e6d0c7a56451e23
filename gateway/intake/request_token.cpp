#include "gateway/intake/request_token.hpp"

#include "gateway/base/base64.hpp"
#include "gateway/base/text.hpp"
#include "gateway/http/part_value.hpp"

#include <algorithm>

namespace gateway::intake {

namespace {

constexpr std::string_view after_scheme = " \t";

// Returns the token in the value of a header or cookie. Only Authorization must have a scheme:
// Bearer, or Token, which some servers take for the same. Elsewhere, a value without one of these
// schemes is returned whole, as it may be a list of tokens.
std::string_view token_in(std::string_view value, bool must_have_scheme)
{
    const std::size_t end = value.find_first_of(after_scheme);
    if (end == std::string_view::npos) {
        return must_have_scheme ? std::string_view{} : value;
    }
    const std::string_view scheme = value.substr(0, end);
    if (base::equal_ignoring_case(scheme, "bearer") || base::equal_ignoring_case(scheme, "token")) {
        return base::trimmed(value.substr(end));
    }
    return must_have_scheme ? std::string_view{} : value;
}

// Sets `out` to the token as the most lenient of servers reads it. Some take it from `token=`, the
// parameter of the scheme Token.
void read_leniently(std::string_view token, std::string& out)
{
    out.clear();
    if (constexpr std::string_view as_parameter = "token="; token.starts_with(as_parameter)) {
        token.remove_prefix(as_parameter.size());
    }
    base::for_each_element(token, '.', [&out](std::string_view part) {
        out += out.empty() ? "" : ".";
        base::append_as_canonical_base64url(part, out);
    });
}

}  // namespace

request_token find_token(
    const http::request_head& head,
    const policy::token_rule& rule,
    token_cache& known,
    base::duration now,
    unknown_token unknown
)
{
    // A thread reads one request at a time. These keep their memory.
    thread_local http::part_value value;
    thread_local std::string as_some_read_it;
    value.clear();
    const bool in_header = rule.in == policy::token_rule::carrier::header;
    if (in_header) {
        http::read_plain_header(head, rule.name, value);
    } else {
        http::read_cookie(head, rule.name, value);
    }
    const bool must_have_scheme = in_header && rule.name == "authorization";
    const std::string_view token = token_in(value.text(), must_have_scheme);
    if (value.ambiguous()) {
        return {{}, true};
    }
    if (std::count(token.begin(), token.end(), '.') < 2) {
        return {};
    }
    if (token.find_first_of(" \t,;") != std::string_view::npos) {
        return {{}, true};
    }
    read_leniently(token, as_some_read_it);
    const known_token found = known.find(as_some_read_it, now, unknown);
    if (found.verified != nullptr && as_some_read_it != token) {
        return {{}, true};
    }
    return {found, false};
}

}  // namespace gateway::intake
