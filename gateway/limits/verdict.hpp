// `verdict` combines the decisions of all limits of a request.
#pragma once

#include "gateway/http/output/limit_headers.hpp"
#include "gateway/intake/named_charge.hpp"
#include "gateway/intake/request_token.hpp"
#include "gateway/limits/admission.hpp"
#include "gateway/policy/limit_rule.hpp"
#include "gateway/telemetry/metrics.hpp"

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gateway::limits {

// True if a request with this decision is rejected and costs more than a bucket can ever hold.
inline bool never_passes(const limit::decision& decision, std::int64_t cost, const limit::limit& l)
{
    return !decision.allowed && cost > l.most_at_once();
}

struct verdict {
    enum class ruling {
        allowed,
        // Status 429.
        rejected,
        // Status 503: a store failed and its limit is closed, or the local table is full.
        unavailable,
        // Status 400: a part of a key is missing or ambiguous; the one entry is the limit with that
        // key.
        unidentified,
        // Status 403: the plan of this client is blocked; the one entry is the limit.
        blocked,
        // Status 400: the cost that the request states is invalid; the one entry is the limit.
        bad_cost,
    };

    struct entry {
        const policy::limit_rule* rule = nullptr;
        // The rule's limit, or that of the client's plan; null if nothing was to be decided.
        const limit::limit* limit = nullptr;
        telemetry::outcome what = telemetry::outcome::allowed;
        // True if `decision` means something.
        bool decided = false;
        // True if the request is rejected and costs more than a bucket can ever hold.
        bool never = false;
        // True if this limit allows the request, and is used above its soft threshold.
        bool warns = false;
        // Tokens that the request costs, if there is a `limit`.
        std::int64_t cost = 1;

        limit::decision decision{};
    };

    ruling is = ruling::allowed;
    std::array<entry, policy::max_limits_per_route> entries{};
    std::size_t count = 0;
    // The part of a key that is to blame for `unidentified`.
    intake::key_fault fault{};
    // The plans of the client under these limits: different names, separated by commas.
    std::string plans{};

    void clear()
    {
        is = ruling::allowed;
        count = 0;
        plans.clear();
    }

    std::span<const entry> limits() const { return {entries.data(), count}; }

    // Returns the wait after which every violated limit would let this request pass, or nothing if
    // no wait would help.
    std::optional<base::duration> retry_after() const;

    // True if a violated limit has banned the bucket.
    bool banned() const;

    // Returns how long an allowed request is to wait for the tokens of every limit.
    base::duration hold() const;

    // Returns the percentage of retry_after() to be added at random: the most of any violated
    // limit.
    int jitter() const;

    // Appends a report for the client of each enforced limit that decided.
    void reports(std::vector<http::limit_report>& of) const;

    // Returns the limit to name in the log, or null if there is none. The first that stopped the
    // request comes first, above all one that has banned its client. Then come one that its store
    // could not decide, one that would have stopped it but for its mode, and the one that lets the
    // fewest requests like this one pass.
    const entry* deciding() const;

    // Appends the limits that would have stopped a request that passed, separated by commas.
    void append_shadow_rejections(std::string& names) const;
};

// Returns the ruling on a request that a charge in this state refuses.
// Requires: named_charge::is_refusal().
verdict::ruling ruling_of(intake::named_charge::state is);

// True if it is a forged token that refuses the request. It is then charged to the limits that need
// no token. Otherwise a client with nothing but forged tokens would empty no bucket, and have each
// of them verified. A client whose token has expired, or that has none, costs little and is charged
// nowhere.
// Requires: `refused` refuses the request.
bool is_forgery(const intake::named_charge& refused, const intake::request_token& token);

// Returns what becomes of a request with this ruling. `wait` is the Retry-After of a rejected
// client, or nothing if no time would help. `banned` says that a ban rejects it.
admission admission_of(verdict::ruling is, std::optional<base::duration> wait, bool banned = false);

}  // namespace gateway::limits
