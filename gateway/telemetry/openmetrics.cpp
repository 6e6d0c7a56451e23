#include "gateway/telemetry/openmetrics.hpp"

#include "gateway/base/hex.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <utility>

namespace gateway::telemetry {

namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

// Appends a number, with a point even if it is whole, as `le` must have one.
void append_number(std::string& out, double number)
{
    if (std::isinf(number)) {
        out += number > 0 ? "+Inf" : "-Inf";
        return;
    }
    std::array<char, 32> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
    const std::string_view text(digits.data(), static_cast<std::size_t>(end - digits.data()));
    out += text;
    if (text.find_first_of(".en") == std::string_view::npos) {
        out += ".0";
    }
}

void append_escaped(std::string& out, std::string_view text)
{
    for (const char c : text) {
        if (c == '\n') {
            out += "\\n";
            continue;
        }
        if (c == '\\' || c == '"') {
            out += '\\';
        }
        out += c;
    }
}

// Appends a name and its labels, and the bound of a bucket unless that is empty.
void append_name(
    std::string& out, std::string_view name, const labels& names, std::string_view bound = {}
)
{
    out += name;
    char separator = '{';
    const auto append_label = [&](std::string_view label, std::string_view value) {
        out += separator;
        out.append(label).append("=\"");
        append_escaped(out, value);
        out += '"';
        separator = ',';
    };
    for (const ClientMetric::Label& label : names) {
        append_label(label.name, label.value);
    }
    if (!bound.empty()) {
        append_label("le", bound);
    }
    out += separator == ',' ? "} " : " ";
}

void append_exemplar(std::string& out, const exemplar& e)
{
    std::array<char, 32> id{};
    base::write_hex(e.trace_low, 16, base::write_hex(e.trace_high, 16, id.data()));
    out.append(" # {trace_id=\"").append(id.data(), id.size()).append("\"} ");
    append_number(out, std::chrono::duration<double>(e.value).count());
    out += ' ';
    append_number(out, std::chrono::duration<double>(e.at).count());
}

void append_histogram(
    std::string& out, const std::string& name, const ClientMetric& row, const row_exemplars* traced
)
{
    const auto append_bucket = [&](std::size_t i, double upper_bound, std::uint64_t count) {
        std::string bound;
        append_number(bound, upper_bound);
        append_name(out, name + "_bucket", row.label, bound);
        out += std::to_string(count);
        if (traced != nullptr && (*traced)[i]) {
            append_exemplar(out, *(*traced)[i]);
        }
        out += '\n';
    };
    const auto& buckets = row.histogram.bucket;
    for (std::size_t i = 0; i < buckets.size(); ++i) {
        append_bucket(i, buckets[i].upper_bound, buckets[i].cumulative_count);
    }
    append_bucket(buckets.size(), HUGE_VAL, row.histogram.sample_count);
    append_name(out, name + "_count", row.label);
    out += std::to_string(row.histogram.sample_count) + '\n';
    append_name(out, name + "_sum", row.label);
    append_number(out, row.histogram.sample_sum);
    out += '\n';
}

const char* type_of(MetricType type)
{
    return type == MetricType::Counter     ? "counter"
           : type == MetricType::Histogram ? "histogram"
                                           : "gauge";
}

void append_family(std::string& out, const MetricFamily& family, const families& all)
{
    constexpr std::string_view of_counters = "_total";
    std::string name = family.name;
    if (family.type == MetricType::Counter && name.ends_with(of_counters)) {
        name.resize(name.size() - of_counters.size());
    }
    out.append("# HELP ").append(name).append(" ");
    append_escaped(out, family.help);
    out.append("\n# TYPE ").append(name).append(" ").append(type_of(family.type)).append("\n");
    for (std::size_t i = 0; i < family.metric.size(); ++i) {
        const ClientMetric& row = family.metric[i];
        if (family.type == MetricType::Histogram) {
            append_histogram(out, name, row, all.exemplars_of(family, i));
            continue;
        }
        const bool counts = family.type == MetricType::Counter;
        append_name(out, family.name, row.label);
        append_number(out, counts ? row.counter.value : row.gauge.value);
        out += '\n';
    }
}

}  // namespace

std::string to_openmetrics(const families& all)
{
    std::string out;
    for (const MetricFamily& family : all.all()) {
        if (!family.metric.empty()) {
            append_family(out, family, all);
        }
    }
    out += "# EOF\n";
    return out;
}

}  // namespace gateway::telemetry
