#include "gateway/intake/routed_request.hpp"

#include "gateway/base/text.hpp"
#include "gateway/http/media_type.hpp"
#include "gateway/http/via.hpp"
#include "gateway/identity/client_address.hpp"
#include "gateway/policy/json_judgement.hpp"
#include "gateway/policy/paths/path.hpp"
#include "gateway/policy/paths/path_case.hpp"

namespace gateway::intake {

namespace {

bool is_one_of(std::string_view text, std::string_view a, std::string_view b)
{
    return base::equal_ignoring_case(text, a) || base::equal_ignoring_case(text, b);
}

// True if the request names another host than the one that TLS was asked for. The certificate was
// shown for that name only, and says nothing to another. HTTP/1.0 may name no host.
bool is_misdirected(const arrival& by)
{
    if (by.tls == nullptr || by.tls->asked_name.empty() || by.authority.empty()) {
        return false;
    }
    thread_local std::string host;  // keeps its memory between calls
    policy::normalise_host(by.authority, host);
    return !base::equal_ignoring_case(host, by.tls->asked_name);
}

// Refuses a request before its route is looked for. A TRACE is not answered with its own head, as
// that could show a page the secrets of its own request.
refusal refusal_without_route(
    const intake_rules& rules, const http::request_head& head, const arrival& by
)
{
    using reason = refusal::reason;
    if (head.max_forwards == 0U) {
        return head.method == "TRACE"
                   ? refusal{reason::final_recipient, 405, "this server does not reflect requests"}
                   : refusal{reason::final_recipient, 200};
    }
    if (head.has_via && !rules.via_name.empty() &&
        http::count_passes(head, rules.via_name) >= http::max_passes) {
        return {reason::loop, 508, "the request comes back here again and again"};
    }
    if (is_misdirected(by)) {
        return {reason::misdirected, 421, "the connection was made for another host"};
    }
    return {};
}

// Says whether the content is to be read, or why the request cannot have this route.
refusal judge_content(
    const policy::route& route,
    const intake_rules& rules,
    const http::request_head& head,
    const content::request_content& content,
    routed_request& out
)
{
    using policy::json_judgement;
    switch (policy::judge(route.match.json, content)) {
        case json_judgement::unclear:
            return unclear_content;
        case json_judgement::too_long:
            return long_content;
        case json_judgement::unread:
            out.wants_content = true;
            return {};
        case json_judgement::differs:
        case json_judgement::matches:
            break;
    }
    const bool is_awaited = route.content_paths != 0 || route.rpc_id_path;
    out.wants_content =
        content.state == content::content_state::unread && is_awaited && http::is_json(head.fields);
    const bool is_refused = content.state == content::content_state::begun &&
                            content.values->lacks_any(route.content_paths) &&
                            route.bounds.within(rules.http).refuses_long_body;
    return is_refused ? long_content : refusal{};
}

// Finds the route and the path as the route reads it. Returns why there is none.
refusal find_route(
    const intake_rules& rules,
    const http::request_head& head,
    const arrival& by,
    intake_memory& memory,
    routed_request& out
)
{
    const policy::policy& p = rules.policy;
    if (p.reads_hosts) {
        policy::normalise_host(head.authority, memory.host);
    }
    const auto [path, refused_because] = head.path == "*"
                                             ? policy::normalised_path{.path = head.path}
                                             : policy::normalise_path(head.path, memory.path);
    if (!refused_because.empty()) {
        return {refusal::reason::no_route, 400, refused_because};
    }
    const auto found = p.find_route.find({
        .method = head.method,
        .host = memory.host,
        .path = path,
        .secure = p.find_route.reads_schemes() && is_https(head, by),
        .fields = head.fields,
        .content = by.content,
    });
    if (!found) {
        return {refusal::reason::no_route, 404, "no route matches this request"};
    }
    out.route_index = *found;
    out.route = &p.routes[*found];
    out.path = path;
    if (out.route->match.ignore_case) {
        memory.path.resize(path.size());  // The path may lie there.
        out.path = policy::fold_case(path, memory.path);
    }
    return judge_content(*out.route, rules, head, by.content, out);
}

bool allows_body(const policy::route& route, const http::options& all, std::uint64_t bytes)
{
    return route.bounds.max_body_bytes ? route.bounds.within(all).allows_body(bytes)
                                       : all.allows_body(bytes);
}

}  // namespace

content::request_content unread_content(
    const policy::policy& policy, const http::request_head& head
)
{
    using content::content_state;
    if (policy.request_paths.count() == 0 || head.body.is_empty()) {
        return {};
    }
    // A server of gRPC may speak first, so that a call's first message cannot be awaited.
    const bool may_be_empty = head.body.how == http::framing::kind::chunked && !head.grpc;
    return {
        may_be_empty || http::is_json(head.fields) ? content_state::unread
                                                   : content_state::unreadable};
}

// Counts wss as https and ws as http, as some proxies send them for the handshakes of WebSockets.
// Any other value counts as none, and so do two values.
bool is_https(const http::request_head& head, const arrival& by)
{
    std::string_view scheme;
    std::size_t times = 0;
    for (const http::field& f : by.peer_trusted ? head.fields : std::span<const http::field>{}) {
        if (f.id == http::field_name::x_forwarded_proto) {
            scheme = f.value;
            ++times;
        }
    }
    if (times == 1 && is_one_of(scheme, "https", "wss")) {
        return true;
    }
    return by.secure && !(times == 1 && is_one_of(scheme, "http", "ws"));
}

routed_request route_request(
    const intake_rules& rules,
    const http::request_head& head,
    const arrival& by,
    intake_memory& memory
)
{
    routed_request routed{.refused = {}, .client = by.peer};
    if (by.peer_trusted) {
        rules.client_header.find(head, memory.client_lines);
        routed.client =
            identity::vouched_address(rules.policy.client, by.peer, memory.client_lines);
    }
    routed.refused = refusal_without_route(rules, head, by);
    if (routed.refused.status == 0) {
        routed.refused = find_route(rules, head, by, memory, routed);
    }
    if (routed.route != nullptr && !allows_body(*routed.route, rules.http, head.body.length)) {
        routed.refused = too_large_body;
    }
    return routed;
}

base::ip_address client_prefix(const policy::policy& policy, const base::ip_address& client)
{
    return client.masked(policy.client.ipv4_prefix, policy.client.ipv6_prefix);
}

key_subject key_subject_of(
    const policy::policy& policy,
    const http::request_head& head,
    const arrival& by,
    const routed_request& routed,
    const intake_memory& memory
)
{
    return {
        .head = &head,
        .address = routed.client,
        .client = client_prefix(policy, routed.client),
        .host = routed.route != nullptr ? std::string_view{memory.host} : std::string_view{},
        .path = routed.path,
        .route =
            routed.route != nullptr ? std::string_view{routed.route->name} : std::string_view{},
        .peer_trusted = by.peer_trusted,
        .certificate = by.tls != nullptr && by.tls->certificate ? &*by.tls->certificate : nullptr,
        .content = by.content,
    };
}

}  // namespace gateway::intake
