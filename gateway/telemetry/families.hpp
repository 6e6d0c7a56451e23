// `families` builds metric families, as the exposition format calls a name, its help and its rows,
// from the plain structs of prometheus-cpp.
// Thread: one scrape at a time.
#pragma once

#include "gateway/telemetry/exemplars.hpp"

#include <prometheus/client_metric.h>
#include <prometheus/metric_family.h>

#include <array>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gateway::telemetry {

using labels = std::vector<prometheus::ClientMetric::Label>;

// The traced requests of a histogram's row, by bucket.
using row_exemplars = std::array<std::optional<exemplar>, histogram::buckets>;

// `families` holds the metric families of one scrape. A reference to one stays valid.
class families {
public:
    prometheus::MetricFamily& counter(std::string_view name, std::string_view help);
    prometheus::MetricFamily& gauge(std::string_view name, std::string_view help);
    prometheus::MetricFamily& histogram(std::string_view name, std::string_view help);

    // Adds traced requests to the last row of a family.
    void add_exemplars(const prometheus::MetricFamily& family, const row_exemplars& traced);

    // Returns the traced requests of a row, or null.
    const row_exemplars* exemplars_of(const prometheus::MetricFamily& family, std::size_t row)
        const;

    const std::deque<prometheus::MetricFamily>& all() const { return all_; }

    // Returns the families that have rows. TextSerializer would print the headers of others, too.
    std::vector<prometheus::MetricFamily> with_rows() &&;

private:
    std::deque<prometheus::MetricFamily> all_;
    // The key is the name of the family and the index of the row.
    std::map<std::pair<std::string, std::size_t>, row_exemplars> exemplars_;

    prometheus::MetricFamily& add(
        std::string_view name, std::string_view help, prometheus::MetricType type
    );
};

// Appends a row of the family's type. A histogram's row is the sum of several workers' histograms.
void add_row(prometheus::MetricFamily& family, double value);
void add_row(prometheus::MetricFamily& family, labels names, double value);
void add_row(
    prometheus::MetricFamily& family, labels names, const std::vector<const histogram*>& parts
);

}  // namespace gateway::telemetry
