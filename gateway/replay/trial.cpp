#include "gateway/replay/trial.hpp"

#include "gateway/store/memory/sliding_bucket.hpp"

#include <limits>
#include <vector>

namespace gateway::replay {

namespace {

// `trial_bucket` is the bucket of one trial for the client at hand.
struct trial_bucket {
    limit::bucket bucket;
    limit::history past;
    bool was_rejected = false;
};

// Decides one request. Returns false if it is rejected.
bool take(const trial& t, trial_bucket& b, const arrival& a)
{
    if (t.terms.keeps_history()) {
        store::sliding_bucket sliding{b.bucket, b.past};
        sliding.bring_to(t.terms, a.at);
        const bool allowed =
            limit::take(t.terms, b.bucket, limit::moment{a.at, b.past}, a.cost).allowed;
        if (allowed && a.cost > 0) {
            sliding.take(t.terms, a.at, 0, a.cost, limit::history::growth::any);
        }
        return allowed;
    }
    limit::moment at{a.at};
    if (t.terms.has_windows()) {
        // Any offset will do for a bucket whose windows begin at one of its own.
        constexpr std::uint64_t spreads = 0x9e3779b97f4a7c15U;
        at = limit::moment{a.at, t.terms.issued_in->shift((a.bucket + 1) * spreads, 0)};
    }
    const limit::step s = limit::take(t.terms, b.bucket, at, a.cost);
    if (s.allowed) {
        b.bucket = s.after;
    }
    return s.allowed;
}

}  // namespace

void run_trials(arrivals& from, std::span<trial> trials)
{
    for (trial& t : trials) {
        t.rejected = 0;
        t.rejected_clients = 0;
    }
    std::vector<trial_bucket> buckets(trials.size());
    std::uint32_t present = std::numeric_limits<std::uint32_t>::max();
    from.for_each([&](const arrival& a) {
        if (a.bucket != present) {
            present = a.bucket;
            buckets.assign(trials.size(), {});
        }
        for (std::size_t i = 0; i < trials.size(); ++i) {
            if (!take(trials[i], buckets[i], a)) {
                ++trials[i].rejected;
                trials[i].rejected_clients += buckets[i].was_rejected ? 0 : 1;
                buckets[i].was_rejected = true;
            }
        }
    });
}

}  // namespace gateway::replay
