// What all the limits of a request said together.
#pragma once

#include "gateway/http/output/limit_headers.hpp"
#include "gateway/intake/request_key.hpp"
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

// Whether a request that was decided so costs more than a bucket can ever hold.
inline bool never_passes(const limit::decision& said, std::int64_t cost, const limit::limit& l)
{
    return !said.allowed && cost > l.most_at_once();
}

struct verdict {
    enum class ruling {
        allowed,
        // Status 429.
        rejected,
        // Status 503: a store failed and its limit is closed, or the local table is full.
        unavailable,
        // Status 400: a part of a key is missing; the one entry is the limit with that key.
        unidentified,
        // Status 403: the plan of this client is blocked; the one entry is the limit.
        blocked,
        // Status 400: what the request says of its cost is nonsense; the one entry is the limit.
        bad_cost,
    };

    struct entry {
        const policy::limit_rule* rule = nullptr;
        // The rule's, or that of the client's plan. Null: nothing was to be decided.
        const limit::limit* limit = nullptr;
        telemetry::outcome what = telemetry::outcome::allowed;
        // Whether `decision` means something.
        bool decided = false;
        // Whether the request costs more than a bucket can ever hold.
        bool never = false;
        // Tokens that the request costs, if `decided`.
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

    void note_plan(std::string_view name);

    std::span<const entry> limits() const { return {entries.data(), count}; }

    // The earliest moment at which every violated limit would let this request pass; nothing: no
    // moment.
    std::optional<base::duration> retry_after() const;

    // Whether a violated limit has banned the bucket.
    bool banned() const;

    // How long an allowed request is to wait for the tokens of every limit.
    base::duration hold() const;

    // Percent of that wait to be added at random: the most of any violated limit.
    int jitter() const;

    // For the client: enforced limits that decided.
    void reports(std::vector<http::limit_report>& of) const;

    // The limit to name in the log: the first that stopped the request, one that has banned its
    // client before others; that could not be decided by its store; that would have stopped it but
    // for its mode; or the one that lets the fewest requests like this one pass.
    const entry* deciding() const;

    // Of a request that passed: the limits that would have stopped it, separated by commas.
    void append_shadow_rejections(std::string& names) const;
};

// What becomes of a request that is ruled so; `wait`: what a rejected client is told, nothing if no
// time would help; `banned`: whether it is so for having been rejected too often.
admission admission_of(verdict::ruling is, std::optional<base::duration> wait, bool banned = false);

}  // namespace gateway::limits
