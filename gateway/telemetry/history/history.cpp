#include "gateway/telemetry/history/history.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

namespace gateway::telemetry {

namespace {

std::uint32_t narrowed(std::uint64_t count)
{
    constexpr std::uint64_t most = std::numeric_limits<std::uint32_t>::max();
    return static_cast<std::uint32_t>(std::min(count, most));
}

latency latency_of(const duration_counts& counts)
{
    latency took;
    if (const auto p50 = quantile(counts, 0.5)) {
        took.p50 = static_cast<float>(*p50);
        took.p99 = static_cast<float>(quantile(counts, 0.99).value_or(0));
    }
    return took;
}

std::optional<std::uint8_t> most_frequent(const failure_counts& failures)
{
    const auto most = std::max_element(failures.begin(), failures.end());
    if (*most == 0) {
        return std::nullopt;
    }
    return static_cast<std::uint8_t>(most - failures.begin());
}

verdict_counts verdicts_of(const request_totals& now, const request_totals& before)
{
    verdict_counts counts{
        .errors = difference<1>({now.server_errors}, {before.server_errors})[0],
        .refused = difference(now.refused, before.refused)};
    const std::uint64_t all = count_of(difference(now.duration, before.duration));
    const std::uint64_t others = counts.errors + count_of(counts.refused);
    counts.allowed = all > others ? all - others : 0;
    return counts;
}

std::optional<limit_second> second_of(const limit_totals& now, const limit_totals& before)
{
    const auto since = difference(now.decisions, before.decisions);
    if (count_of(since) == 0) {
        return std::nullopt;
    }
    limit_second s;
    std::transform(since.begin(), since.end(), s.decisions.begin(), narrowed);
    return s;
}

std::optional<upstream_second> second_of(const upstream_totals& now, const upstream_totals& before)
{
    const auto took = difference(now.duration, before.duration);
    const auto failures = difference(now.failures, before.failures);
    if (count_of(took) + count_of(failures) == 0) {
        return std::nullopt;
    }
    return upstream_second{
        .responses = narrowed(count_of(took)),
        .failures = narrowed(count_of(failures)),
        .reason = most_frequent(failures),
        .took = latency_of(took)};
}

std::optional<store_second> second_of(const store_totals& now, const store_totals& before)
{
    const auto failures = difference(now.failures, before.failures);
    const auto counts = difference<3>(
        {now.requests, now.leased, now.remembered},
        {before.requests, before.leased, before.remembered}
    );
    if (count_of(counts) + count_of(failures) == 0 && now.is_up) {
        return std::nullopt;
    }
    return store_second{
        .calls = narrowed(counts[0]),
        .failures = narrowed(count_of(failures)),
        .reason = most_frequent(failures),
        .leased = narrowed(counts[1]),
        .remembered = narrowed(counts[2]),
        .is_up = now.is_up,
        .took = latency_of(difference(now.duration, before.duration))};
}

}  // namespace

std::uint64_t verdict_counts::all() const
{
    return allowed + errors + count_of(refused);
}

// Returns the index of the name. If there is no room, it takes that of a name in no kept second;
// nothing if there is no such name.
std::optional<std::size_t> history::index_of(std::string_view name, std::vector<known_name>& names)
    const
{
    auto found = std::find_if(names.begin(), names.end(), [name](const known_name& known) {
        return known.text == name;
    });
    if (found == names.end() && names.size() < most_names) {
        found = names.insert(found, known_name{});
    } else if (found == names.end()) {
        found = std::find_if(names.begin(), names.end(), [this](const known_name& known) {
            return known.used + length <= number_;
        });
    }
    if (found == names.end()) {
        return std::nullopt;
    }
    found->text = name;
    found->used = number_;
    return static_cast<std::size_t>(found - names.begin());
}

template <typename Totals, typename Second>
void history::add_named(
    const named<Totals>& now,
    const named<Totals>& before,
    std::vector<known_name>& names,
    std::vector<Second>& to
) const
{
    for (const auto& [name, counted] : now) {
        const auto found = before.find(name);
        auto s = second_of(counted, found == before.end() ? Totals{} : found->second);
        if (!s) {
            continue;
        }
        if (const auto index = index_of(name, names)) {
            s->name = *index;
            to.push_back(*s);
        }
    }
}

void history::add(totals now, base::duration at)
{
    if (seconds_.size() == length) {
        seconds_.pop_front();
    }
    second& s = seconds_.emplace_back();
    s.number = ++number_;
    s.at = at;
    s.requests = verdicts_of(now.requests, last_.requests);
    s.took = latency_of(difference(now.requests.duration, last_.requests.duration));
    add_named(now.limits, last_.limits, limits_, s.limits);
    add_named(now.upstreams, last_.upstreams, upstreams_, s.upstreams);
    add_named(now.stores, last_.stores, stores_, s.stores);
    last_ = std::move(now);
}

}  // namespace gateway::telemetry
