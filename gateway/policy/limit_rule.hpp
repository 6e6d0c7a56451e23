// `limit_rule` is a limit as configured: its algebra, its key, its store, and what happens when
// that store fails.
#pragma once

#include "gateway/http/output/limit_headers.hpp"
#include "gateway/limit/limit.hpp"
#include "gateway/limit/penalty.hpp"
#include "gateway/limit/token_lease.hpp"
#include "gateway/policy/claimed_numbers.hpp"
#include "gateway/policy/cost_rule.hpp"
#include "gateway/policy/outcome_rule.hpp"
#include "gateway/policy/plan.hpp"

#include <compare>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

namespace gateway::policy {

// Most limits on one route, most parts in one key. They bound the work that a request can cause.
inline constexpr std::size_t max_limits_per_route = 8;
inline constexpr std::size_t max_key_parts = 8;

struct key_part {
    enum class source {
        client_ip,
        header,
        cookie,
        query,
        jwt,
        cert,
        method,
        host,
        path,
        route,
        // A member of the request's JSON content.
        json,
        // The value of an entry of a descriptor, which only Envoy's rate-limit service has.
        descriptor,
    };

    source from = source::client_ip;
    // The name of the header (in lower case), cookie, query parameter, claim, property of a
    // certificate or key of an entry, or the path of the member (content/json_paths.hpp); else
    // empty.
    std::string name;
    // Bits of the address, with client_ip only. An IPv4 address has 32 at most. 0: those of
    // `client`.
    int prefix = 0;
    // The part as the configuration writes it, for people.
    std::string text{};
    // True for a header that the upstream gets from trusted peers only. It counts as absent from
    // the requests of others.
    bool from_trusted_peers = false;
    // Index of the path in policy::request_paths, with json only. Set by policy::finish().
    std::size_t path = 0;

    bool can_be_absent() const
    {
        return from == source::header || from == source::cookie || from == source::query ||
               from == source::jwt || from == source::cert || from == source::json;
    }

    // True if its values may be what somebody signs in with.
    bool may_be_secret() const { return can_be_absent(); }

    auto operator<=>(const key_part&) const = default;
};

enum class missing_key { reject, skip, client_ip };
enum class failure_policy { open, closed, local };
enum class mode { enforce, shadow };

struct fraction {
    std::int64_t of = 0;
    std::int64_t all = 0;

    bool any() const { return all > 0; }

    bool operator==(const fraction&) const = default;
};

// Value of `store` for the store in this process, which always exists.
inline constexpr std::size_t local_store = std::numeric_limits<std::size_t>::max();

// Value of `key_number` while it is unknown which rules have the same key.
inline constexpr std::size_t no_key_number = std::numeric_limits<std::size_t>::max();

struct limit_rule {
    std::string name;
    // Algorithm and rate as the configuration writes them, for people.
    std::string algorithm{};
    std::string rate{};
    // The parts of the key. Empty: everybody shares one bucket.
    std::vector<key_part> key;

    missing_key when_missing = missing_key::reject;
    // Rules with the same number give a request the same key. Set by policy::finish().
    std::size_t key_number = no_key_number;
    limit::limit limit;
    cost_rule cost{};
    outcome_rule outcome{};
    // Plans whose members get other numbers.
    plan_choice plan{};
    // Numbers that tokens state, in place of those of `limit`, which has the default ones.
    claimed_numbers claimed{};
    // Index into policy::stores, or local_store.
    std::size_t store = local_store;

    // Longest time that a request may wait for its tokens (0: it does not wait), and most tokens
    // that may be missing.
    base::duration max_wait{0};
    std::int64_t max_reserved = 1'000'000'000'000;

    // The bans that many rejections lead to.
    limit::penalty penalty{};

    // Number of parts that its buckets are split into, as `limit` is. 1: they are whole.
    std::int64_t shards = 1;

    // The tokens that a worker takes ahead of requests from its buckets in a shared store.
    limit::token_lease lease{};

    // Highest percentage of Retry-After that is added to it at random when a client is rejected.
    int jitter = 0;

    // The fields that report the limit to clients.
    http::limit_fields fields{};
    // Percentage of the limit above which clients are warned; 0: they are not.
    int soft = 0;

    failure_policy on_store_failure = failure_policy::open;
    // The share of the limit that this gateway gives while the store fails, with `local` only.
    // limit::share() is made from it. 0 of 0: the whole limit, and the store never learns of these
    // charges.
    fraction local_share{};
    policy::mode mode = policy::mode::enforce;

    // True if tokens may be refunded before their time: because of the response, or on a route
    // whose clients wait and may leave. Set by policy::finish().
    bool may_be_corrected = false;

    // True if the response, or the end of the request, may change what it was charged.
    bool may_change() const { return outcome.any() || cost.counts_bytes(); }

    // True if something else than its method says what a request costs.
    bool cost_varies() const
    {
        using source = cost_rule::source;
        return (cost.from != source::fixed && cost.from != source::methods) || outcome.settles();
    }

    bool enforced() const { return mode == policy::mode::enforce; }

    // True if a bucket of `l` with so many tokens left is used above the soft threshold.
    bool is_above_soft(const limit::limit& l, std::int64_t remaining) const
    {
        return soft > 0 && (l.burst() - remaining) * 100 > l.burst() * soft;
    }

    // True if `what` is the configured reaction to a store that has not decided. The local store
    // has no such choice.
    bool on_failure(failure_policy what) const
    {
        return store != local_store && on_store_failure == what;
    }
};

}  // namespace gateway::policy
