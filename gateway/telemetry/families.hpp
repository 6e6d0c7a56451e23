// Builders for what the exposition format calls a metric family: a name, its help, and its rows.
// Plain functions over prometheus-cpp's plain structs; used by one scrape at a time.
#pragma once

#include "gateway/telemetry/counter.hpp"

#include <prometheus/client_metric.h>
#include <prometheus/metric_family.h>

#include <string_view>
#include <vector>

namespace gateway::telemetry {

using labels = std::vector<prometheus::ClientMetric::Label>;
using families = std::vector<prometheus::MetricFamily>;

prometheus::MetricFamily counter_family(std::string_view name, std::string_view help);
prometheus::MetricFamily gauge_family(std::string_view name, std::string_view help);
prometheus::MetricFamily histogram_family(std::string_view name, std::string_view help);

// A row for the family's type; a histogram's takes the sum of several workers' histograms.
void add_row(prometheus::MetricFamily& family, labels names, double value);
void add_row(
    prometheus::MetricFamily& family, labels names, const std::vector<const histogram*>& parts
);

// A family without rows is left out: TextSerializer would print its header all the same.
void add_family(families& all, prometheus::MetricFamily family);

// A family of one row.
void add_single(families& all, prometheus::MetricFamily family, labels names, double value);

}  // namespace gateway::telemetry
