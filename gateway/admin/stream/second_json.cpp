#include "gateway/admin/stream/second_json.hpp"

#include "gateway/proxy/failure.hpp"
#include "gateway/store/failure.hpp"

#include <boost/json.hpp>

#include <cmath>
#include <span>
#include <string_view>

namespace gateway::admin {

namespace {

using boost::json::object;

template <typename Count>
void add_count(object& to, std::string_view name, Count count)
{
    if (count != 0) {
        to[name] = count;
    }
}

void add_latency(object& to, const telemetry::latency& took)
{
    // Whole microseconds are more than a histogram knows.
    const auto rounded = [](float seconds) {
        return std::round(static_cast<double>(seconds) * 1e6) / 1e6;
    };
    if (took.p50) {
        to["p50"] = rounded(*took.p50);
        to["p99"] = rounded(took.p99.value_or(0));
    }
}

void add_failures(
    object& to,
    std::uint32_t failures,
    std::optional<std::uint8_t> reason,
    std::span<const std::string_view> reasons
)
{
    add_count(to, "failures", failures);
    if (reason) {
        to["reason"] = reasons[*reason];
    }
}

object requests_of(const telemetry::second& s)
{
    object requests;
    add_count(requests, "allowed", s.requests.allowed);
    add_count(requests, "errors", s.requests.errors);
    for (std::size_t i = 0; i < telemetry::refusal_reason_names.size(); ++i) {
        add_count(requests, telemetry::refusal_reason_names[i], s.requests.refused[i]);
    }
    return requests;
}

object upstream_of(const telemetry::upstream_second& u)
{
    object one;
    add_count(one, "responses", u.responses);
    add_failures(one, u.failures, u.reason, proxy::failure_names);
    add_latency(one, u.took);
    return one;
}

object store_of(const telemetry::store_second& s)
{
    object one{{"up", s.is_up}};
    add_count(one, "calls", s.calls);
    add_failures(one, s.failures, s.reason, store::failure_names);
    add_count(one, "leased", s.leased);
    add_count(one, "remembered", s.remembered);
    add_latency(one, s.took);
    return one;
}

}  // namespace

object second_json(const telemetry::history& of, const telemetry::second& s)
{
    object limits;
    for (const telemetry::limit_second& l : s.limits) {
        object one;
        for (std::size_t i = 0; i < l.decisions.size(); ++i) {
            add_count(one, telemetry::outcome_names[i], l.decisions[i]);
        }
        limits[of.limit_name(l)] = std::move(one);
    }
    object upstreams;
    for (const telemetry::upstream_second& u : s.upstreams) {
        upstreams[of.upstream_name(u)] = upstream_of(u);
    }
    object stores;
    for (const telemetry::store_second& st : s.stores) {
        stores[of.store_name(st)] = store_of(st);
    }
    object latency;
    add_latency(latency, s.took);
    return {
        {"at", std::chrono::round<std::chrono::seconds>(s.at).count()},
        {"requests", requests_of(s)},
        {"latency", std::move(latency)},
        {"limits", std::move(limits)},
        {"upstreams", std::move(upstreams)},
        {"stores", std::move(stores)},
    };
}

}  // namespace gateway::admin
