// `explain()` tells what would become of a request, and why, without touching a bucket. Client,
// route, keys, plans, costs and verdict are found by the functions that real requests go through.
// It does not look at what depends on the connection: certificates, a host other than the one that
// TLS was asked for (421), and requests that come back again and again (508). Pure.
#pragma once

#include "gateway/http/options.hpp"
#include "gateway/identity/client_address.hpp"
#include "gateway/intake/claimed_limits.hpp"
#include "gateway/intake/hypothetical_request.hpp"
#include "gateway/intake/named_charge.hpp"
#include "gateway/limits/verdict.hpp"

#include <optional>
#include <string>
#include <vector>

namespace gateway::limits {

// `looked_at` is the result of a look at the bucket of a limit.
struct looked_at {
    // Reason why its store gave no answer; empty if it gave one.
    std::string failed{};
    // Decision of the store, or of the bucket that stands in while the store fails.
    std::optional<limit::decision> decision{};
    // Time that a ban still lasts; 0 if there is none.
    base::duration banned_for{0};
};

struct explanation {
    std::shared_ptr<const policy::policy> policy;
    // Nothing if the request is invalid.
    std::optional<identity::found_client> client;
    std::string path;
    // Null if no route was looked for, or none matches.
    const policy::route* route = nullptr;
    // Limits by the numbers of the request's token.
    std::shared_ptr<intake::claimed_limits> claimed{};
    // One for each limit of the route. Names are those of whole buckets.
    std::vector<intake::named_charge> limits;
    // Status that the request is refused with, whatever its buckets hold; 0 if it is not.
    // `refused_by` is the limit of policy::limits that refuses it, or nothing if none does.
    int status = 0;
    std::string detail;
    std::optional<std::size_t> refused_by{};
    // True if its token is forged, so that the limits that need none decide first, in every store.
    // Otherwise only those in the local store do.
    bool is_forgery = false;
    // Wait that Retry-After reports with that status; 0 if it reports none.
    base::duration retry_after{0};
    // Number of limits whose buckets are asked, counted from the first. If the request is refused,
    // these may reject it before that, as they need no token, and the limit that refuses needs it.
    std::size_t asked = 0;
    // True if the content behind the part that counts shows that it cannot be read in one way. A
    // request that goes on after the decision is refused then, see content_unclear_later().
    bool ends_unclear = false;
};

// Explains the hypothetical request `request`. Sets `complaint` to a sentence about what is wrong
// with its description, if anything is; the result then says nothing. A well-described request that
// the gateway would refuse is no complaint.
explanation explain(
    std::shared_ptr<const policy::policy> policy,
    const http::options& bounds,
    const intake::hypothetical_request& request,
    std::string& complaint
);

}  // namespace gateway::limits
