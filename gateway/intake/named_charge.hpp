// `named_charge` is what a request is to be charged under one limit: which bucket, and how many
// tokens. It knows no HTTP: limit checks decide on charges, whatever protocol named them. Pure.
#pragma once

#include "gateway/identity/bucket_name.hpp"
#include "gateway/policy/policy.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace gateway::intake {

// `key_fault` is the part of a key that a request lacks, or has in two ways.
struct key_fault {
    // The part; null: every part is there.
    const policy::key_part* part = nullptr;
    bool ambiguous = false;
};

struct named_charge {
    enum class state : std::uint8_t {
        // The bucket decides.
        charged,
        // The client's plan has no limit here.
        unlimited,
        // A part of the key is missing, and the limit then does not apply.
        skipped,
        // The client's plan is blocked.
        blocked,
        // The key that the plan depends on can be read in two ways.
        unclear_plan,
        // A part of the key is ambiguous, or is missing and must not be.
        bad_key,
        // The cost that the request states is invalid.
        bad_cost,
    };
    state is = state::charged;
    // Index of policy::limits, and the limit there.
    std::size_t index = 0;
    const policy::limit_rule* rule = nullptr;
    // The rule's own numbers or those of the client's plan; null if the plan has none.
    const limit::limit* limit = nullptr;
    // Name of the client's plan, which the policy holds; empty: none, or it is unclear.
    std::string_view plan{};
    // Name of the bucket, if `is_named`.
    identity::bucket_name name{};
    bool is_named = false;
    // Tokens that the request is charged, if `charged`.
    std::int64_t cost = 1;
    // Tokens that it costs, which are more if that is more than a bucket holds (cost_rule::caps).
    std::int64_t full_cost = 1;
    // The part of the cost that depends on bytes which have not come yet; null: none does.
    const policy::content_cost* by_bytes = nullptr;
    // The part that is to blame, if `skipped`, `unclear_plan` or `bad_key`.
    key_fault fault{};

    // True if the limit refuses the request whatever its bucket holds. In shadow mode it would.
    bool is_refusal() const { return is >= state::blocked; }

    bool refuses() const { return is_refusal() && rule->enforced(); }
};

// `named_charges` are the charges of one request: one for each limit that applies, and one for each
// blocked plan in shadow mode.
struct named_charges {
    std::array<named_charge, policy::max_limits_per_route> entries{};
    std::size_t count = 0;
    // The plans of the client under these limits: different names, separated by commas.
    std::string plans{};

    void clear()
    {
        count = 0;
        plans.clear();
    }

    // Adds a name to `plans`, unless it is there or empty.
    void note_plan(std::string_view name);

    std::span<const named_charge> all() const { return {entries.data(), count}; }
};

}  // namespace gateway::intake
