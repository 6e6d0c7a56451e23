// `json_format` says which members of JSON lines tell what of a request.
#pragma once

#include "gateway/replay/logs/wanted_parts.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gateway::replay {

enum class json_role : std::uint8_t {
    // Tells nothing.
    none,
    // Moment of the decision, in nanoseconds of Unix time. It counts more than `time`.
    decided,
    time,
    client,
    method,
    target,
    host,
    route,
    // The limit that decided.
    limit,
    // Outcome of the limit that decided, in our words.
    outcome,
    // Reason why the gateway answered itself.
    error,
    // Upstream of the route, and its server that got the request.
    upstream,
    server,
    status,
    // Outcome of a call of gRPC.
    grpc_status,
    duration_in_seconds,
    duration_in_nanoseconds,
    cost,
    costs,
    // Value of a wanted part.
    part,
    // Object of all headers, whose values are texts or arrays of texts.
    headers,
    // Object with members of its own, `inside`.
    nested,
};

struct json_rule {
    std::string name;
    json_role role = json_role::none;
    std::size_t part = 0;
    std::vector<json_rule> inside{};
};

struct json_format {
    std::string name;
    std::vector<json_rule> rules;
    // Wanted parts that every line of this format tells.
    part_set known = 0;
    // True if a target without a query tells that the request had none.
    bool holds_queries = false;
    // True if the client is the peer of the connection, and headers may name another one.
    bool client_is_peer = false;
    // True if `time` is when the request was over.
    bool time_is_end = false;
    // Beginning of the names of members that hold one header each; empty: there are none.
    std::string header_prefix{};
};

// The formats of the gateway's own log, of Caddy and of Traefik.
json_format own_json(const wanted_parts& wanted);
json_format caddy_json(const wanted_parts& wanted);
json_format traefik_json(const wanted_parts& wanted);

// Returns the format that `fields` describes: "client=ip,time=ts,path=request.uri", where each name
// to the left is client, time, method, path, host, status, duration, cost or a key part such as
// header:x-api-key, and a dot to the right leads into an object. Returns nothing and sets
// `complaint` to what is wrong with it.
std::optional<json_format> described_json(
    std::string_view fields, wanted_parts& wanted, std::string& complaint
);

}  // namespace gateway::replay
