#include "gateway/replay/suggestion.hpp"

#include "gateway/replay/rate_steps.hpp"
#include "gateway/replay/trial.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace gateway::replay {

namespace {

// The bursts for which the smallest rates are found.
std::vector<std::int64_t> bursts_from(std::int64_t least, std::int64_t most)
{
    std::vector<std::int64_t> all;
    for (std::int64_t b = least; b < most; b += std::max<std::int64_t>(1, b / 3)) {
        all.push_back(b);
    }
    all.push_back(most);
    return all;
}

// `search` looks for numbers that reject no more than is accepted.
class search {
public:
    search(arrivals& from, const accepted_loss& accepted) : from_(from), accepted_(accepted) {}

    bool is_good(const trial& t) const
    {
        return (!accepted_.requests || requests_of(t) <= *accepted_.requests) &&
               (!accepted_.clients || clients_of(t) <= *accepted_.clients);
    }

    void run(std::span<trial> trials) { run_trials(from_, trials); }

    // Finds for each of several ranges the first number that is good, if numbers are good from
    // some number on. `begins` and `ends` are the ranges; a result that equals its end was not
    // tried. `make` returns the trial of a range's number.
    template <typename Make>
    std::vector<std::int64_t> first_good(
        std::vector<std::int64_t> begins, std::vector<std::int64_t> ends, Make make
    )
    {
        while (true) {
            std::vector<trial> trials;
            std::vector<std::size_t> of;
            for (std::size_t i = 0; i < begins.size(); ++i) {
                if (begins[i] < ends[i]) {
                    trials.push_back(make(i, begins[i] + (ends[i] - begins[i]) / 2));
                    of.push_back(i);
                }
            }
            if (trials.empty()) {
                return begins;
            }
            run(trials);
            for (std::size_t n = 0; n < trials.size(); ++n) {
                const std::size_t i = of[n];
                const std::int64_t middle = begins[i] + (ends[i] - begins[i]) / 2;
                (is_good(trials[n]) ? ends[i] : begins[i]) =
                    is_good(trials[n]) ? middle : middle + 1;
            }
        }
    }

    suggested_numbers numbers_of(const trial& t) const
    {
        return {
            .rate = t.rate,
            .per_second = t.per_second,
            .burst = t.burst,
            .requests = requests_of(t),
            .clients = clients_of(t)};
    }

private:
    arrivals& from_;
    const accepted_loss& accepted_;

    double requests_of(const trial& t) const
    {
        return static_cast<double>(t.rejected) / static_cast<double>(from_.size());
    }

    double clients_of(const trial& t) const
    {
        return static_cast<double>(t.rejected_clients) / static_cast<double>(from_.buckets());
    }
};

// Returns a trial of a token bucket. Its terms have no burst if the pair is impossible, and then
// reject nothing that costs nothing.
trial bucket_trial(const rate_step& rate, std::int64_t burst)
{
    trial t{.rate = rate.text(), .per_second = rate.per_second(), .burst = burst};
    const auto l = limit::limit::make(rate.count, rate.period, burst);
    t.terms = l ? l->in_nanoseconds() : limit::terms{.interval = 1, .burst = 1};
    return t;
}

// Time that the whole log takes, at least a second. A bucket that refills more slowly was never
// seen to do so, and its rate would be a guess.
double seconds_of(const arrivals& from)
{
    return std::max(1.0, static_cast<double>(from.span().count()) / 1e9);
}

// Returns the pair in the bend of the curve: the least product of rate and burst.
std::size_t bend_of(const std::vector<suggested_numbers>& curve, double seconds)
{
    std::size_t best = 0;
    double least = INFINITY;
    for (std::size_t i = 0; i < curve.size(); ++i) {
        const auto burst = static_cast<double>(curve[i].burst);
        const double product = burst * curve[i].per_second;
        if (burst <= seconds * curve[i].per_second && product < least) {
            best = i;
            least = product;
        }
    }
    return best;
}

// For each burst finds the smallest rate, and for that rate the smallest burst: no pair with both
// numbers smaller can then be good, as a smaller number never rejects less.
std::optional<suggestion> suggest_bucket(search& space, const arrivals& from)
{
    const std::vector<rate_step> rates = rate_steps();
    const auto last = static_cast<std::int64_t>(rates.size()) - 1;
    const auto bursts = bursts_from(1, std::max<std::int64_t>(from.most_tokens(), 1));
    const auto rate_at = [&](std::int64_t i) -> const rate_step& {
        return rates[static_cast<std::size_t>(i)];
    };
    const auto slowest = space.first_good(
        std::vector<std::int64_t>(bursts.size(), 0),
        std::vector<std::int64_t>(bursts.size(), last),
        [&](std::size_t i, std::int64_t rate) { return bucket_trial(rate_at(rate), bursts[i]); }
    );
    const auto smallest = space.first_good(
        std::vector<std::int64_t>(bursts.size(), 1),
        bursts,
        [&](std::size_t i, std::int64_t burst) { return bucket_trial(rate_at(slowest[i]), burst); }
    );
    std::vector<trial> found;
    for (std::size_t i = 0; i < bursts.size(); ++i) {
        found.push_back(bucket_trial(rate_at(slowest[i]), smallest[i]));
    }
    space.run(found);
    suggestion s;
    for (const trial& t : found) {
        const bool again = !s.curve.empty() && s.curve.back().rate == t.rate;
        if (space.is_good(t) && !again) {
            s.curve.push_back(space.numbers_of(t));
        }
    }
    if (s.curve.empty()) {
        return std::nullopt;
    }
    s.best = s.curve[bend_of(s.curve, seconds_of(from))];
    return s;
}

// Returns the keys of the rule that trials do not know of.
std::vector<std::string> keys_without_trial(const policy::limit_rule& rule)
{
    const std::array<std::pair<bool, std::string_view>, 7> all{{
        {rule.penalty.any(), "penalty"},
        {rule.cost.caps, "reserve: cap"},
        {rule.shards > 1, "shards"},
        {rule.max_wait > base::duration{0}, "max_wait"},
        {!rule.outcome.charge_on.empty(), "charge_on"},
        {!rule.outcome.reset_on.empty(), "reset_on"},
        {rule.outcome.settles(), "settle"},
    }};
    std::vector<std::string> keys;
    for (const auto& [has, key] : all) {
        if (has) {
            keys.emplace_back(key);
        }
    }
    return keys;
}

// Returns a trial of the rule's own windows, or sliding window, with another count.
trial counted_trial(const policy::limit_rule& rule, std::int64_t count)
{
    trial t{
        .rate = std::to_string(count) +
                rule.rate.substr(std::min(rule.rate.find('/'), rule.rate.size())),
        .burst = count};
    t.terms = rule.limit.in_nanoseconds();
    double seconds = static_cast<double>(rule.limit.refill().count()) / 1e9;
    if (t.terms.has_windows()) {
        seconds = static_cast<double>(t.terms.issued_in->length()) / 1e9;
        t.windows = std::make_shared<const limit::windows>(t.terms.issued_in->issuing(count));
        t.terms = limit::window_terms(*t.windows, count);
    } else {
        t.terms.burst = count;
    }
    t.per_second = static_cast<double>(count) / seconds;
    return t;
}

// A limit that counts what comes in a time has one number. The smallest is found, and what others
// around it reject.
suggestion suggest_count(const policy::limit_rule& rule, search& space, const arrivals& from)
{
    const std::int64_t most = std::max<std::int64_t>(from.most_tokens(), 1);
    const auto best = space.first_good({1}, {most}, [&](std::size_t, std::int64_t count) {
        return counted_trial(rule, count);
    });
    std::vector<trial> trials{counted_trial(rule, best.front())};
    for (const std::int64_t count : bursts_from(1, most)) {
        trials.push_back(counted_trial(rule, count));
    }
    space.run(trials);
    suggestion s{.best = space.numbers_of(trials.front()), .curve = {}};
    std::sort(trials.begin(), trials.end(), [](const trial& a, const trial& b) {
        return a.burst < b.burst;
    });
    for (const trial& t : trials) {
        if (s.curve.empty() || s.curve.back().burst != t.burst) {
            s.curve.push_back(space.numbers_of(t));
        }
    }
    return s;
}

}  // namespace

std::optional<suggestion> suggest(
    const policy::limit_rule& rule,
    arrivals& from,
    const accepted_loss& accepted,
    std::string& complaint
)
{
    if (rule.limit.counts_in_flight()) {
        complaint = "it counts requests in flight";
        return std::nullopt;
    }
    if (from.size() == 0) {
        complaint = "it judged no request";
        return std::nullopt;
    }
    if (!from.sort()) {
        complaint = "there is no room for temporary files";
        return std::nullopt;
    }
    search space{from, accepted};
    const bool is_bucket = rule.limit.how() == limit::supply_kind::token_bucket;
    auto found =
        is_bucket ? suggest_bucket(space, from) : std::optional{suggest_count(rule, space, from)};
    complaint = found ? "" : "no rate up to a million a second rejects so few";
    if (found) {
        found->without = keys_without_trial(rule);
    }
    return found;
}

}  // namespace gateway::replay
