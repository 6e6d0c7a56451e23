// `families` builds metric families, as the exposition format calls a name, its help and its rows,
// from the plain structs of prometheus-cpp.
// Thread: one scrape at a time.
#pragma once

#include "gateway/telemetry/counter.hpp"

#include <prometheus/client_metric.h>
#include <prometheus/metric_family.h>

#include <deque>
#include <string_view>
#include <vector>

namespace gateway::telemetry {

using labels = std::vector<prometheus::ClientMetric::Label>;

// `families` holds the metric families of one scrape. A reference to one stays valid.
class families {
public:
    prometheus::MetricFamily& counter(std::string_view name, std::string_view help);
    prometheus::MetricFamily& gauge(std::string_view name, std::string_view help);
    prometheus::MetricFamily& histogram(std::string_view name, std::string_view help);

    // Returns the families that have rows. TextSerializer would print the headers of others, too.
    std::vector<prometheus::MetricFamily> with_rows() &&;

private:
    std::deque<prometheus::MetricFamily> all_;

    prometheus::MetricFamily& add(
        std::string_view name, std::string_view help, prometheus::MetricType type
    );
};

// Appends a row of the family's type. A histogram's row is the sum of several workers' histograms.
void add_row(prometheus::MetricFamily& family, labels names, double value);
void add_row(
    prometheus::MetricFamily& family, labels names, const std::vector<const histogram*>& parts
);

}  // namespace gateway::telemetry
