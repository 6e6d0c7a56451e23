#include "gateway/replay/tally.hpp"

#include <algorithm>

namespace gateway::replay {

namespace {

// Counts one more request with these facts.
template <typename Facts>
void note_unknown(std::vector<std::pair<Facts, std::uint64_t>>& all, const Facts& facts)
{
    // Most different sets of facts in a log that are told apart.
    constexpr std::size_t most = 64;
    const auto found =
        std::find_if(all.begin(), all.end(), [&facts](const auto& u) { return u.first == facts; });
    if (found != all.end()) {
        ++found->second;
    } else if (all.size() < most) {
        all.emplace_back(facts, 1);
    }
}

}  // namespace

tally::tally(
    const candidate& of, const wanted_parts& wanted, bool keeps_arrivals, std::size_t most_buckets
)
    : candidate_(of)
{
    for (const policy::limit_rule& rule : of.policy().limits) {
        limit_tally& t = limits_.emplace_back(limit_tally{.name = client_name{rule, wanted}});
        t.counts.name = rule.name;
        t.counts.rate = rule.rate;
        t.counts.burst = rule.limit.burst();
        t.counts.shadow = !rule.enforced();
        t.arrived = keeps_arrivals ? std::make_unique<arrivals>(most_buckets) : nullptr;
    }
}

void tally::add(const logged_request& r, const judgement& j)
{
    if (result_.over_time.bins().empty() && result_.malformed + result_.envoy_calls == 0) {
        result_.begin = r.at;
    }
    result_.end = r.at;
    switch (j.is) {
        case verdict::allowed:
            ++result_.allowed;
            result_.unlimited += j.count == 0 ? 1 : 0;
            break;
        case verdict::rejected:
            ++result_.rejected;
            break;
        case verdict::unjudged:
            ++result_.unjudged;
            if (j.gap.any()) {
                note_unknown(gaps_, j.gap);
            }
            break;
        case verdict::malformed:
            ++result_.malformed;
            return;
        case verdict::left_out:
            ++result_.envoy_calls;
            return;
    }
    result_.over_time.add(r.at, j.is);
    for (const limit_judgement& l : j.limits()) {
        add_to_limit(l, r, j);
    }
}

void tally::add_to_limit(const limit_judgement& l, const logged_request& r, const judgement& j)
{
    limit_tally& t = limits_[l.limit];
    t.counts.over_time.add(r.at, l.is);
    if (l.is == verdict::unjudged) {
        ++t.counts.unjudged;
        note_unknown(t.unknown, l.known);
        return;
    }
    const bool rejected = l.is == verdict::rejected;
    ++(rejected ? t.counts.rejected : t.counts.allowed);
    t.clients.add(t.name.hash(r, j), rejected, r.at, [&] { return t.name.text(r, j); });
    if (t.arrived != nullptr && l.numbers == &candidate_.policy().limits[l.limit].limit) {
        t.arrived->add(l.bucket, r.at, l.cost);
    }
}

void tally::finish_limit(std::size_t index, const accepted_loss& accepted)
{
    limit_tally& t = limits_[index];
    limit_result& r = t.counts;
    r.clients = t.clients.busiest(shown_clients);
    r.all_clients = t.clients.size();
    r.rejected_clients = t.clients.rejected();
    r.partial = t.clients.is_partial();
    for (const auto& [known, requests] : t.unknown) {
        std::string what = candidate_.missing(index, known);
        const auto same = std::find_if(r.unknown.begin(), r.unknown.end(), [&what](const auto& u) {
            return u.what == what;
        });
        if (same != r.unknown.end()) {
            same->requests += requests;
        } else {
            r.unknown.push_back({std::move(what), requests});
        }
    }
    if (t.arrived != nullptr) {
        r.suggested =
            suggest(candidate_.policy().limits[index], *t.arrived, accepted, r.no_suggestion);
        t.arrived.reset();
    }
    result_.limits.push_back(std::move(r));
}

replay_result tally::finish(const accepted_loss& accepted)
{
    result_.accepted = accepted;
    for (const auto& [gap, requests] : gaps_) {
        result_.unknown.push_back({candidate_.missing(gap), requests});
    }
    for (std::size_t i = 0; i < limits_.size(); ++i) {
        finish_limit(i, accepted);
    }
    return std::move(result_);
}

void comparison::add(verdict before, verdict now, const base::ip_address& client, base::duration at)
{
    const auto is_judged = [](verdict v) {
        return v == verdict::allowed || v == verdict::rejected;
    };
    if (!is_judged(before) || !is_judged(now)) {
        return;
    }
    ++counts_.compared;
    if (before == now) {
        return;
    }
    const bool rejected = now == verdict::rejected;
    ++(rejected ? counts_.newly_rejected : counts_.newly_allowed);
    clients_.add(address_hash(client), rejected, at, [&client] { return client.to_string(); });
}

difference comparison::finish() const
{
    difference d = counts_;
    d.clients = clients_.busiest(tally::shown_clients);
    return d;
}

}  // namespace gateway::replay
