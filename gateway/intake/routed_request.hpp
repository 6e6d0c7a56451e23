// `route_request` is the first half of intake: it finds a request's client, host, path and route,
// or why the request goes no further. The second half, `add_charges`, finds what it is charged.
// Pure, but for the memory that it is lent.
#pragma once

#include "gateway/http/message.hpp"
#include "gateway/http/options.hpp"
#include "gateway/intake/client_header.hpp"
#include "gateway/intake/client_tls.hpp"
#include "gateway/intake/refusal.hpp"
#include "gateway/intake/request_key.hpp"
#include "gateway/policy/policy.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace gateway::intake {

// `arrival` says how a request came.
struct arrival {
    base::ip_address peer;
    // True if the policy trusts the peer.
    bool peer_trusted = false;
    // True if the connection is TLS.
    bool secure = false;
    // Result of the handshake, or null. It can be null for a secure connection, too.
    const client_tls* tls = nullptr;
    // Authority of the request on the connection, which may only ask about this one.
    std::string_view authority{};
    // Content of the request, as far as it was read.
    content::request_content content{};
};

// `intake_rules` is the configuration that intake needs.
// Ownership: it views into the configuration.
struct intake_rules {
    const policy::policy& policy;
    // Bounds of routes without their own.
    const http::options& http;
    const intake::client_header& client_header;
    // Name of this process in `Via`; empty: loops are not looked for.
    std::string_view via_name{};
};

// `intake_memory` is memory for the texts of one request.
struct intake_memory {
    std::string host;
    std::string path;
    // Values of the header that names the client.
    std::vector<std::string_view> client_lines;
};

// Ownership: it views into the head, the policy and the memory.
struct routed_request {
    refusal refused;
    // The client's address. It is known whether the request is refused or not.
    base::ip_address client;
    // The route and its index in policy::routes, unless none was found. A request with too large a
    // body has one, too.
    const policy::route* route = nullptr;
    std::size_t route_index = 0;
    // The normalized path, in lower case if the route ignores case.
    std::string_view path{};
    // True if the content must be read before the request can be decided about. Its beginning is
    // enough, as long as the route's bound for that.
    bool wants_content = false;
};

// Returns what is known of a request's content before any of it was read. Only JSON is ever read,
// and only if the policy depends on it. Content without a length may turn out to be none.
content::request_content unread_content(
    const policy::policy& policy, const http::request_head& head
);

// Returns the paths in the content by which a request of this route is decided about. It has its
// route because others did not match.
inline content::path_set paths_that_count(const policy::policy& policy, const policy::route& route)
{
    return route.content_paths | policy.route_paths;
}

// True if the request's scheme is https, by a trusted peer's X-Forwarded-Proto, or else by the
// connection.
bool is_https(const http::request_head& head, const arrival& by);

// Sets `memory.host` to the normalized host, if a route, plan or key depends on it.
routed_request route_request(
    const intake_rules& rules,
    const http::request_head& head,
    const arrival& by,
    intake_memory& memory
);

// Returns the client's address, cut to the prefix that is one client.
base::ip_address client_prefix(const policy::policy& policy, const base::ip_address& client);

// Returns what the keys of a request are made of, but for its token. Without a route, there is no
// host and no path.
key_subject key_subject_of(
    const policy::policy& policy,
    const http::request_head& head,
    const arrival& by,
    const routed_request& routed,
    const intake_memory& memory
);

}  // namespace gateway::intake
