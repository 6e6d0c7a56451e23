// A limit as configured: its algebra, its key, its store, and what happens when that store fails.
#pragma once

#include "gateway/limit/limit.hpp"
#include "gateway/limit/penalty.hpp"
#include "gateway/limit/token_lease.hpp"
#include "gateway/policy/cost_rule.hpp"
#include "gateway/policy/outcome_rule.hpp"
#include "gateway/policy/plan.hpp"

#include <compare>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

namespace gateway::policy {

// Most limits on one route, most parts in one key: what a request can cost us stays bounded.
inline constexpr std::size_t max_limits_per_route = 8;
inline constexpr std::size_t max_key_parts = 8;

struct key_part {
    enum class source { client_ip, header, cookie, query, jwt, cert, method, host, path, route };
    source from = source::client_ip;
    // The name of the header (in lower case), cookie, query parameter or claim, what of a
    // certificate is meant; else empty.
    std::string name;
    // Of client_ip: bits of the address, of which an IPv4 one has 32 at most; 0: those of `client`.
    int prefix = 0;
    // As the configuration writes it, for people.
    std::string text{};
    // A header that the upstream gets from trusted peers only: it is absent from others' requests.
    bool from_trusted_peers = false;

    bool can_be_absent() const
    {
        return from == source::header || from == source::cookie || from == source::query ||
               from == source::jwt || from == source::cert;
    }

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

// Instead of an index: the store that is always there, in this process.
inline constexpr std::size_t local_store = std::numeric_limits<std::size_t>::max();

// Instead of a number: whose key is the same is not known.
inline constexpr std::size_t no_key_number = std::numeric_limits<std::size_t>::max();

struct limit_rule {
    std::string name;
    // As the configuration writes them, for people.
    std::string algorithm{};
    std::string rate{};
    // The parts of the key; empty: one bucket shared by everybody.
    std::vector<key_part> key;

    missing_key when_missing = missing_key::reject;
    // Rules with the same number give a request the same key. Set by policy::finish().
    std::size_t key_number = no_key_number;
    limit::limit limit;
    cost_rule cost{};
    outcome_rule outcome{};
    // Who gets other numbers.
    plan_choice plan{};
    // Index into policy::stores, or local_store.
    std::size_t store = local_store;

    // How long a request may wait for its tokens, and how many may be missing; 0: it does not wait.
    base::duration max_wait{0};
    std::int64_t max_reserved = 1'000'000'000'000;

    // What many rejections lead to.
    limit::penalty penalty{};

    // In how many parts its buckets are split, as `limit` is; 1: they are whole.
    std::int64_t shards = 1;

    // What a worker takes ahead from its buckets in a shared store.
    limit::token_lease lease{};

    // Percent of Retry-After that is added at random to what a rejected client is told.
    int jitter = 0;

    failure_policy on_store_failure = failure_policy::open;
    // Of `local`: what part of the limit this gateway gives meanwhile; limit::share() is made of
    // it. 0 of 0: all of it, and the store hears nothing of it.
    fraction local_share{};
    policy::mode mode = policy::mode::enforce;

    // Whether what a request took may come back before its time: its response says so, or it is on
    // a route on which clients wait, and may leave. Set by policy::finish().
    bool may_be_corrected = false;

    bool enforced() const { return mode == policy::mode::enforce; }

    // Whether that is what it means that its store has not decided; the local one has no such
    // choice.
    bool on_failure(failure_policy what) const
    {
        return store != local_store && on_store_failure == what;
    }
};

}  // namespace gateway::policy
