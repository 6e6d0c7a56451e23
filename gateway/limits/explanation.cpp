#include "gateway/limits/explanation.hpp"

#include "gateway/base/chars.hpp"
#include "gateway/base/text.hpp"
#include "gateway/http/request_parser.hpp"
#include "gateway/http/request_target.hpp"
#include "gateway/intake/request_cost.hpp"
#include "gateway/intake/request_route.hpp"

#include <algorithm>

namespace gateway::limits {

namespace {

// True if the text has no control characters but tabs. A line break would make another request of
// it.
bool stays_in_line(std::string_view text)
{
    return std::none_of(text.begin(), text.end(), [](char c) {
        return base::is_control(c) && c != '\t';
    });
}

// True if an operator may mean the text as a URL. The parser judges it like the target of a real
// request.
bool is_url(std::string_view text)
{
    const bool named = text.starts_with('/') || text == "*" || text.find("://") != text.npos;
    return named && http::is_target_text(text);
}

// Returns the head of the hypothetical request, to be parsed like a real one.
std::string head_of(const intake::hypothetical_request& told, std::string& complaint)
{
    if (!base::is_token(told.method)) {
        complaint = "method: expected a method such as GET";
    } else if (!is_url(told.url)) {
        complaint =
            "url: expected /path?query, or http://host/path?query, other bytes percent-encoded";
    }
    std::string fields;
    bool has_host = false;
    for (const auto& [name, value] : told.headers) {
        if (!base::is_token(name) || !stays_in_line(value)) {
            complaint = "headers: expected names of headers, and values without line breaks";
        }
        has_host = has_host || base::equal_ignoring_case(name, "host");
        fields.append(name).append(": ").append(value).append("\r\n");
    }
    if (!has_host) {
        fields.append("Host: localhost\r\n");  // an absolute URL replaces it
    }
    return told.method + ' ' + told.url + " HTTP/1.1\r\n" + fields + "\r\n";
}

std::vector<std::string_view> client_lines(
    const identity::client_options& options, const http::request_head& head
)
{
    std::vector<std::string_view> lines;
    for (const http::field& f : head.fields) {
        if (base::equal_ignoring_case(f.name, options.header)) {
            lines.push_back(f.value);
        }
    }
    return lines;
}

intake::key_fault fault_of(
    const policy::policy& policy,
    const policy::limit_rule& rule,
    const explained_limit& l,
    const intake::key_subject& subject
)
{
    if (l.applied.is == intake::applied_limit::kind::unclear) {
        return {.part = &policy.plans[rule.plan.plans].key, .ambiguous = true};
    }
    return l.key == intake::key_result::made ? intake::key_fault{}
                                             : intake::find_fault(rule, subject);
}

// Returns why the limit refuses the request before any bucket is looked at, or nothing if it does
// not.
std::optional<verdict::ruling> refusal_by(const explained_limit& l)
{
    using kind = intake::applied_limit::kind;
    switch (l.applied.is) {
        case kind::unlimited:
            return std::nullopt;
        case kind::blocked:
            return verdict::ruling::blocked;
        case kind::unclear:
            return verdict::ruling::unidentified;
        case kind::limited:
            break;
    }
    if (l.key == intake::key_result::reject) {
        return verdict::ruling::unidentified;
    }
    return l.cost ? std::nullopt : std::optional{verdict::ruling::bad_cost};
}

// Explains the limits in the order in which a limit check collects them. A limit in shadow mode
// refuses nothing. The first of the others that refuses counts.
void explain_limits(const intake::key_subject& subject, explanation& e)
{
    identity::bucket_name name;
    const std::size_t without_token = e.route->limits_without_token;
    for (const std::size_t index : e.route->limits) {
        const policy::limit_rule& rule = e.policy->limits[index];
        explained_limit one{.index = index, .cost = {}, .bucket_name = {}};
        one.applied = intake::applied_by_plan(*e.policy, rule, subject);
        one.key = intake::make_bucket_name(rule, subject, name);
        one.fault = fault_of(*e.policy, rule, one, subject);
        one.cost = intake::cost_of(rule.cost, *subject.head);
        one.bucket_name = one.key == intake::key_result::made ? name.bytes() : std::string_view{};
        const auto is = refusal_by(one);
        if (rule.enforced() && is && !e.refused_by) {
            const admission a = admission_of(*is, std::nullopt);
            e.status = a.status;
            e.detail =
                *is == verdict::ruling::unidentified ? described(one.fault) : std::string{a.detail};
            e.refused_by = index;
            e.asked = e.limits.size() < without_token ? 0 : without_token;
        }
        e.limits.push_back(std::move(one));
    }
    e.asked = e.refused_by ? e.asked : e.limits.size();
}

void refuse(explanation& e, int status, std::string_view detail)
{
    e.status = status;
    e.detail = detail;
}

}  // namespace

explanation explain(
    std::shared_ptr<const policy::policy> policy,
    const http::options& bounds,
    const intake::hypothetical_request& told,
    std::string& complaint
)
{
    explanation e{
        .policy = std::move(policy), .client = {}, .path = {}, .limits = {}, .detail = {}};
    const std::string bytes = head_of(told, complaint);
    const auto peer = base::ip_address::parse(told.peer);
    if (!peer) {
        complaint = "peer: expected an IP address";
    }
    if (!complaint.empty()) {
        return e;
    }
    http::request_head head;
    const http::parse_result parsed = http::parse_request_head(bytes, bounds, head);
    if (parsed.is != http::parse_result::state::complete) {
        refuse(e, parsed.why.status, parsed.why.detail);
        return e;
    }
    const identity::client_options& options = e.policy->client;
    e.client = identity::find_client(options, *peer, client_lines(options, head));
    if (head.max_forwards == 0U) {
        refuse(e, head.method == "TRACE" ? 405 : 200, "Max-Forwards: 0 ends at the gateway");
        return e;
    }
    std::string host;
    std::string room;
    const intake::arrival by{
        .secure = base::equal_ignoring_case(told.url.substr(0, 8), "https://"),
        .peer_trusted = identity::is_trusted(options, *peer)};
    const intake::found_route found = intake::find_route(*e.policy, head, by, host, room);
    if (found.status != 0) {
        refuse(e, found.status, found.detail);
        return e;
    }
    e.path = found.path;
    e.route = &e.policy->routes[found.index];
    if (!e.route->bounds.within(bounds).allows_body(head.body.length)) {
        const admission refused = body_too_large();
        refuse(e, refused.status, refused.detail);
        return e;
    }
    std::optional<intake::token_cache> tokens;
    intake::request_token token;
    if (e.route->reads_token) {
        tokens.emplace(e.policy->token->good);
        token = intake::find_token(head, *e.policy->token, *tokens, base::unix_time());
    }
    explain_limits(
        {.head = &head,
         .address = e.client->address,
         .client = e.client->address.masked(options.ipv4_prefix, options.ipv6_prefix),
         .host = host,
         .path = e.path,
         .route = e.route->name,
         .token = token,
         .peer_trusted = by.peer_trusted},
        e
    );
    return e;
}

}  // namespace gateway::limits
