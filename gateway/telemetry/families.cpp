#include "gateway/telemetry/families.hpp"

#include <iterator>
#include <utility>

namespace gateway::telemetry {

prometheus::MetricFamily& families::add(
    std::string_view name, std::string_view help, prometheus::MetricType type
)
{
    prometheus::MetricFamily& family = all_.emplace_back();
    family.name = name;
    family.help = help;
    family.type = type;
    return family;
}

prometheus::MetricFamily& families::counter(std::string_view name, std::string_view help)
{
    return add(name, help, prometheus::MetricType::Counter);
}

prometheus::MetricFamily& families::gauge(std::string_view name, std::string_view help)
{
    return add(name, help, prometheus::MetricType::Gauge);
}

prometheus::MetricFamily& families::histogram(std::string_view name, std::string_view help)
{
    return add(name, help, prometheus::MetricType::Histogram);
}

void families::add_exemplars(const prometheus::MetricFamily& family, const row_exemplars& traced)
{
    exemplars_.insert_or_assign({family.name, family.metric.size() - 1}, traced);
}

const row_exemplars* families::exemplars_of(const prometheus::MetricFamily& family, std::size_t row)
    const
{
    const auto found = exemplars_.find({family.name, row});
    return found == exemplars_.end() ? nullptr : &found->second;
}

std::vector<prometheus::MetricFamily> families::with_rows() &&
{
    std::erase_if(all_, [](const auto& family) { return family.metric.empty(); });
    return {std::move_iterator(all_.begin()), std::move_iterator(all_.end())};
}

void add_row(prometheus::MetricFamily& family, double value)
{
    add_row(family, {}, value);
}

void add_row(prometheus::MetricFamily& family, labels names, double value)
{
    prometheus::ClientMetric& row = family.metric.emplace_back();
    row.label = std::move(names);
    if (family.type == prometheus::MetricType::Counter) {
        row.counter.value = value;
    } else {
        row.gauge.value = value;
    }
}

void add_row(
    prometheus::MetricFamily& family, labels names, const std::vector<const histogram*>& parts
)
{
    prometheus::ClientMetric& row = family.metric.emplace_back();
    row.label = std::move(names);
    // Workers go on counting meanwhile. The count is the sum of the buckets as read, so that the
    // rows of one scrape agree with each other.
    std::uint64_t total = 0;
    for (std::size_t i = 0; i <= histogram::bounds_seconds.size(); ++i) {
        for (const histogram* part : parts) {
            total += part->count(i);
        }
        if (i < histogram::bounds_seconds.size()) {
            row.histogram.bucket.push_back(
                {.cumulative_count = total, .upper_bound = histogram::bounds_seconds[i]}
            );
        }
    }
    row.histogram.sample_count = total;
    for (const histogram* part : parts) {
        row.histogram.sample_sum += part->sum_seconds();
    }
}

}  // namespace gateway::telemetry
