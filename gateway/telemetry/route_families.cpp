// `add_route_families` reports the metrics of routes.
#include "gateway/telemetry/block_sums.hpp"
#include "gateway/telemetry/exposition.hpp"

#include <algorithm>
#include <utility>

namespace gateway::telemetry {

namespace {

double request_count(const row<route_metrics>& blocks, std::size_t method, std::size_t code)
{
    return sum(blocks, [&](const route_metrics& m) -> std::uint64_t {
        const auto* codes = m.requests[method].load(std::memory_order_acquire);
        return codes == nullptr ? 0 : (*codes)[code].value();
    });
}

bool method_seen(const row<route_metrics>& blocks, std::size_t method)
{
    return std::any_of(blocks.begin(), blocks.end(), [method](const auto& b) {
        return b.metrics.requests[method].load(std::memory_order_acquire) != nullptr;
    });
}

// True if a request has used the route, so that there is something to report.
bool any_request(const row<route_metrics>& blocks)
{
    for (std::size_t method = 0; method < method_names.size(); ++method) {
        if (method_seen(blocks, method)) {
            return true;
        }
    }
    return false;
}

void add_requests(
    prometheus::MetricFamily& family, const std::string& route, const row<route_metrics>& blocks
)
{
    for (std::size_t method = 0; method < method_names.size(); ++method) {
        if (!method_seen(blocks, method)) {
            continue;
        }
        for (std::size_t code = 0; code < route_metrics::codes{}.size(); ++code) {
            if (const double count = request_count(blocks, method, code); count > 0) {
                const auto status = static_cast<std::size_t>(route_metrics::first_code) + code;
                labels names{
                    {"route", route},
                    {"method", std::string{method_names[method]}},
                    {"code", std::to_string(status)},
                };
                add_row(family, std::move(names), count);
            }
        }
    }
}

// Adds a row for each status of gRPC that a call of the route has had.
void add_grpc(
    prometheus::MetricFamily& family, const std::string& route, const row<route_metrics>& blocks
)
{
    constexpr std::size_t all = route_metrics::grpc_statuses{}.size();
    for (std::size_t status = 0; status < all; ++status) {
        const double count = sum(blocks, [status](const route_metrics& m) -> std::uint64_t {
            const auto* counts = m.grpc.load(std::memory_order_acquire);
            return counts == nullptr ? 0 : (*counts)[status].value();
        });
        if (count > 0) {
            const std::string text = status + 1 < all ? std::to_string(status) : "other";
            add_row(family, {{"route", route}, {"grpc_status", text}}, count);
        }
    }
}

// Returns the latest traced request of each bucket.
row_exemplars latest(const row<route_metrics>& blocks)
{
    row_exemplars all{};
    for (const auto& b : blocks) {
        const exemplars* const kept = b.metrics.traced.load(std::memory_order_acquire);
        for (std::size_t i = 0; kept != nullptr && i < all.size(); ++i) {
            const auto e = kept->of_bucket(i);
            if (e && (!all[i] || all[i]->at < e->at)) {
                all[i] = e;
            }
        }
    }
    return all;
}

// Adds a row for each reason for which limits of the route have refused a request.
void add_refusals(
    prometheus::MetricFamily& family, const std::string& route, const row<route_metrics>& blocks
)
{
    for (std::size_t r = 0; r < refusal_reason_names.size(); ++r) {
        const double count =
            sum(blocks, [r](const route_metrics& m) { return m.refused[r].value(); });
        if (count > 0) {
            add_row(
                family, {{"route", route}, {"reason", std::string{refusal_reason_names[r]}}}, count
            );
        }
    }
}

}  // namespace

void add_route_families(families& all, const table<route_metrics>& routes)
{
    auto& requests =
        all.counter("gateway_requests_total", "Requests answered, by route, method and status.");
    auto& grpc = all.counter(
        "gateway_grpc_responses_total", "Calls of gRPC, by route and the status that they had."
    );
    auto& refused = all.counter(
        "gateway_refused_requests_total",
        "Requests that limits refused, by reason and whatever their status."
    );
    auto& over_limit = all.counter(
        "gateway_over_limit_requests_total",
        "Requests that limits rejected, and that went to the route's upstream for these."
    );
    auto& errors = all.counter(
        "gateway_server_errors_total",
        "Responses of 500 and above, but for those that the configuration asks for."
    );
    auto& duration = all.histogram(
        "gateway_request_duration_seconds",
        "Time from a request's complete header to the last byte of its answer."
    );
    for (const auto& [name, blocks] : routes) {
        // Every route gets its row, even at 0, as an alert needs the first step up.
        add_row(errors, {{"route", name}}, sum(blocks, &route_metrics::server_errors));
        if (!any_request(blocks)) {
            continue;
        }
        add_requests(requests, name, blocks);
        add_row(duration, {{"route", name}}, durations(blocks));
        all.add_exemplars(duration, latest(blocks));
        add_refusals(refused, name, blocks);
        add_row(over_limit, {{"route", name}}, sum(blocks, &route_metrics::over_limit));
        add_grpc(grpc, name, blocks);
    }
}

}  // namespace gateway::telemetry
