// Functions that build metric families, as the exposition format calls a name, its help and its
// rows. They work on the plain structs of prometheus-cpp.
// Thread: one scrape at a time.
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

// Appends a row of the family's type. A histogram's row is the sum of several workers' histograms.
void add_row(prometheus::MetricFamily& family, labels names, double value);
void add_row(
    prometheus::MetricFamily& family, labels names, const std::vector<const histogram*>& parts
);

// Appends a family. Leaves out one without rows, whose header TextSerializer would print all the
// same.
void add_family(families& all, prometheus::MetricFamily family);

// Appends a family of one row.
void add_single(families& all, prometheus::MetricFamily family, labels names, double value);

}  // namespace gateway::telemetry
