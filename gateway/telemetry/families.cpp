#include "gateway/telemetry/families.hpp"

#include <utility>

namespace gateway::telemetry {

static prometheus::MetricFamily make_family(
    std::string_view name, std::string_view help, prometheus::MetricType type
)
{
    prometheus::MetricFamily family;
    family.name = name;
    family.help = help;
    family.type = type;
    return family;
}

prometheus::MetricFamily counter_family(std::string_view name, std::string_view help)
{
    return make_family(name, help, prometheus::MetricType::Counter);
}

prometheus::MetricFamily gauge_family(std::string_view name, std::string_view help)
{
    return make_family(name, help, prometheus::MetricType::Gauge);
}

prometheus::MetricFamily histogram_family(std::string_view name, std::string_view help)
{
    return make_family(name, help, prometheus::MetricType::Histogram);
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

void add_family(families& all, prometheus::MetricFamily family)
{
    if (!family.metric.empty()) {
        all.push_back(std::move(family));
    }
}

void add_single(families& all, prometheus::MetricFamily family, labels names, double value)
{
    add_row(family, std::move(names), value);
    add_family(all, std::move(family));
}

}  // namespace gateway::telemetry
