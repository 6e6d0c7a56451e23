#include "gateway/limits/reports/explanation.hpp"

#include "gateway/base/chars.hpp"
#include "gateway/base/text.hpp"
#include "gateway/http/input/request_parser.hpp"
#include "gateway/http/media_type.hpp"
#include "gateway/http/request_target.hpp"
#include "gateway/intake/request_charges.hpp"
#include "gateway/intake/routed_request.hpp"
#include "gateway/limits/admission.hpp"

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
std::string head_of(const intake::hypothetical_request& request, std::string& complaint)
{
    if (!base::is_token(request.method)) {
        complaint = "method: expected a method such as GET";
    } else if (!is_url(request.url)) {
        complaint =
            "url: expected /path?query, or http://host/path?query, other bytes percent-encoded";
    }
    std::string fields;
    bool has_host = false;
    bool has_type = false;
    for (const auto& [name, value] : request.headers) {
        if (!base::is_token(name) || !stays_in_line(value)) {
            complaint = "headers: expected names of headers, and values without line breaks";
        }
        has_host = has_host || base::equal_ignoring_case(name, "host");
        has_type = has_type || base::equal_ignoring_case(name, "content-type");
        fields.append(name).append(": ").append(value).append("\r\n");
    }
    if (!request.content.empty()) {
        fields.append("Content-Length: " + std::to_string(request.content.size()) + "\r\n");
        fields.append(has_type ? "" : "Content-Type: application/json\r\n");
    }
    if (!has_host) {
        fields.append("Host: localhost\r\n");  // an absolute URL replaces it
    }
    return request.method + ' ' + request.url + " HTTP/1.1\r\n" + fields + "\r\n";
}

// Refuses the request by one of the route's limits. Those before it that need no token are asked
// first if it needs one.
void refuse_by(explanation& e, std::size_t limit, const admission& a)
{
    const std::size_t without_token = e.route->limits_without_token;
    e.status = a.status;
    e.detail = a.detail;
    e.retry_after = a.retry_after;
    e.refused_by = limit;
    e.asked = e.limits.size() > without_token ? without_token : 0;
}

// Explains the limits in the order in which a limit check collects them. A limit in shadow mode
// refuses nothing. The first of the others that refuses counts. Without the keys that verify the
// token, that is the first one that needs it.
void explain_limits(const intake::key_subject& subject, explanation& e)
{
    const policy::policy& policy = *e.policy;
    const bool lacks_keys = subject.token.unknown_key && policy.token->lacks_keys();
    for (const std::size_t index : e.route->limits) {
        const std::size_t number = e.limits.size();
        intake::named_charge& c = e.limits.emplace_back();
        intake::name_charge(policy, index, subject, std::span{e.limits}.first(number), c);
        const bool needs_token = number >= e.route->limits_without_token;
        if (e.refused_by) {
            continue;
        }
        if (lacks_keys && needs_token && c.rule->enforced()) {
            refuse_by(e, index, keys_not_fetched());
        } else if (c.refuses()) {
            const verdict::ruling is = ruling_of(c.is);
            refuse_by(e, index, admission_of(is, std::nullopt));
            e.is_forgery = is_forgery(c, subject.token);
            if (is == verdict::ruling::unidentified) {
                e.detail = described(c.fault);
            }
        }
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
    const intake::hypothetical_request& request,
    std::string& complaint
)
{
    explanation e{
        .policy = std::move(policy), .client = {}, .path = {}, .limits = {}, .detail = {}};
    const std::string bytes = head_of(request, complaint);
    const auto peer = base::ip_address::parse(request.peer);
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
    const intake::client_header header{options.header};
    intake::arrival by{
        .peer = *peer,
        .peer_trusted = identity::is_trusted(options, *peer),
        .secure = base::equal_ignoring_case(request.url.substr(0, 8), "https://"),
        .content = intake::unread_content(*e.policy, head)};
    intake::intake_memory memory;
    const intake::intake_rules rules{*e.policy, bounds, header};
    content::request_values values{e.policy->request_paths, http::is_json(head.fields)};
    std::string_view rest;
    intake::routed_request routed = intake::route_request(rules, head, by, memory);
    if (routed.wants_content && routed.refused.status == 0) {
        const std::size_t most = routed.route->bounds.within(bounds).max_inspected_body;
        values.read_beginning(request.content, most, true);
        rest = std::string_view{request.content}.substr(std::min(most, request.content.size()));
        by.content = {values.state(), &values};
        routed = intake::route_request(rules, head, by, memory);
    }
    e.client = identity::find_client(options, *peer, memory.client_lines);
    e.route = routed.route;
    e.path = routed.path;
    if (routed.refused.status != 0) {
        const std::string_view why = routed.refused.detail;
        refuse(e, routed.refused.status, why.empty() ? "Max-Forwards: 0 ends at the gateway" : why);
        return e;
    }
    intake::key_subject subject = intake::key_subject_of(*e.policy, head, by, routed, memory);
    std::optional<intake::token_cache> tokens;
    if (e.route->reads_token) {
        tokens.emplace(e.policy->token->good);
        subject.token = intake::find_token(head, *e.policy->token, *tokens, base::unix_time());
    }
    e.claimed = std::make_shared<intake::claimed_limits>();
    subject.claimed = e.claimed.get();
    explain_limits(subject, e);
    const content::path_set paths = intake::paths_that_count(*e.policy, *e.route);
    e.ends_unclear = !rest.empty() && !values.stays_sound(rest, true, paths);
    return e;
}

}  // namespace gateway::limits
