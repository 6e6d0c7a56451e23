// What would become of a request, and why, without touching a bucket: client, route, keys, plans,
// costs and verdict are found by the functions that real requests go through. What hangs on the
// connection is not looked at: certificates, a host other than the one that TLS was asked for
// (421), and requests that come back again and again (508). Pure.
#pragma once

#include "gateway/http/options.hpp"
#include "gateway/identity/client_address.hpp"
#include "gateway/intake/request_key.hpp"
#include "gateway/intake/request_plan.hpp"
#include "gateway/intake/told_request.hpp"
#include "gateway/limits/verdict.hpp"

#include <optional>
#include <string>
#include <vector>

namespace gateway::limits {

struct explained_limit {
    // Of policy::limits.
    std::size_t index = 0;
    // The limit by the client's plan.
    intake::applied_limit applied{};
    intake::key_result key = intake::key_result::made;
    // The part that its key lacks, if that is not made.
    intake::key_fault fault{};
    // Nothing: what the request says of it is nonsense.
    std::optional<std::int64_t> cost;
    // The bytes of identity::bucket_name, if the key is made.
    std::string bucket_name;

    // Whether its bucket decides about the request.
    bool applies() const
    {
        return applied.limit != nullptr && key == intake::key_result::made && cost.has_value();
    }
};

// What a look at the bucket of a limit said.
struct looked_at {
    // Why its store gave no answer; empty: it gave one.
    std::string failed{};
    // Of the store, or of the bucket that stands in for its bucket while it fails.
    std::optional<limit::decision> said{};
    // How long a ban still lasts; 0: there is none.
    base::duration banned_for{0};
};

struct explanation {
    std::shared_ptr<const policy::policy> policy;
    // Nothing until the request was valid.
    std::optional<identity::found_client> client;
    std::string path;
    // Null: none was looked for, or none matches.
    const policy::route* route = nullptr;
    std::vector<explained_limit> limits;
    // What the request is refused with, whatever its buckets hold; 0: it is not. By that limit
    // of policy::limits; nothing: by none.
    int status = 0;
    std::string detail;
    std::optional<std::size_t> refused_by{};
    // Number of limits, the first ones, whose buckets are asked. If the request is refused, they
    // may reject it before that: they need no token, and the limit that refuses needs it.
    std::size_t asked = 0;
};

// `complaint`: what is wrong with what was told, in a sentence; then the result says nothing. A
// request that is told well and that the gateway would refuse is no complaint.
explanation explain(
    std::shared_ptr<const policy::policy> policy,
    const http::options& bounds,
    const intake::told_request& told,
    std::string& complaint
);

}  // namespace gateway::limits
