#include "gateway/admin/stream/state_json.hpp"

#include "gateway/admin/admin_limits.hpp"
#include "gateway/http/output/limit_headers.hpp"
#include "gateway/identity/bucket_name.hpp"

#include <boost/json.hpp>

#include <algorithm>

namespace gateway::admin {

namespace {

using boost::json::array;
using boost::json::object;

double seconds_of(base::duration d)
{
    return static_cast<double>(std::chrono::round<std::chrono::milliseconds>(d).count()) / 1e3;
}

object store_json(std::string_view name, bool is_up, const store_states& states)
{
    object one{{"store", name}, {"state", is_up ? "up" : "down"}};
    if (const auto found = states.find(name); found != states.end()) {
        one["since"] = seconds_of(found->second.since);
        if (!found->second.reason.empty()) {
            one["last_failure"] = found->second.reason;
        }
    }
    return one;
}

}  // namespace

boost::json::value limits_json(const policy::policy& p)
{
    array all;
    for (const policy::limit_rule& rule : p.limits) {
        all.push_back(describe(p, rule));
    }
    return all;
}

boost::json::value top_json(
    const policy::policy& p, std::span<const recent_top::bucket> top, audience for_whom
)
{
    array all;
    for (const recent_top::bucket& b : top.first(std::min(top.size(), most_top_buckets))) {
        object one{{"limit", identity::limit_of(b.name)}, {"count", b.count}};
        describe_bucket(p, {b.name, b.is_digest, for_whom == audience::with_token}, one);
        all.push_back(std::move(one));
    }
    return all;
}

boost::json::value findings_json(
    const policy::policy& p, std::span<const finding> found, audience for_whom
)
{
    array all;
    for (const finding& f : found) {
        object one{
            {"cause", f.cause}, {"name", f.name}, {"text", f.text}, {"since", seconds_of(f.since)}};
        if (!f.bucket_name.empty()) {
            describe_bucket(p, {f.bucket_name, f.is_digest, for_whom == audience::with_token}, one);
        }
        all.push_back(std::move(one));
    }
    return all;
}

boost::json::value stores_json(
    const policy::policy& p,
    const telemetry::totals& now,
    const store_states& states,
    const process_report& process
)
{
    object local = store_json("local", true, states);
    local["buckets"] = process.buckets;
    local["max_buckets"] = process.max_buckets;
    local["turned_away"] = process.turned_away;
    array all{std::move(local)};
    for (const std::string& name : p.stores) {
        const auto counted = now.stores.find(name);
        if (counted == now.stores.end()) {
            continue;
        }
        object one = store_json(name, counted->second.is_up, states);
        one["breaker"] = counted->second.is_breaker_open ? "open" : "closed";
        all.push_back(std::move(one));
    }
    return all;
}

boost::json::value servers_json(
    std::span<const telemetry::server_figures> servers, const telemetry::totals& now
)
{
    array all;
    for (const telemetry::server_figures& s : servers) {
        object one{
            {"upstream", s.name.first},
            {"server", s.name.second},
            {"state", s.up ? "up" : "down"},
            {"healthy", s.healthy},
            {"in_flight", s.in_flight},
            {"ejections", s.ejections},
        };
        if (s.ejected_for > base::duration{0}) {
            one["ejected_for"] = std::chrono::ceil<std::chrono::seconds>(s.ejected_for).count();
        }
        if (const auto u = now.upstreams.find(s.name.first); u != now.upstreams.end()) {
            one["queued"] = u->second.queued;
        }
        all.push_back(std::move(one));
    }
    return all;
}

boost::json::value certificates_json(std::span<const telemetry::certificate_figures> all)
{
    std::vector<telemetry::certificate_figures> sorted(all.begin(), all.end());
    std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
        return a.expires < b.expires;
    });
    array certificates;
    for (const telemetry::certificate_figures& c : sorted) {
        certificates.push_back({{"certificate", c.name}, {"expires", c.expires.count()}});
    }
    return certificates;
}

boost::json::value process_json(
    const process_report& r, const telemetry::connection_totals& connections, audience for_whom
)
{
    object reload{{"at", seconds_of(r.reload.at)}, {"succeeded", r.reload.succeeded}};
    if (for_whom == audience::with_token) {
        reload["said"] = boost::json::value_from(r.reload.lines);
    }
    return {
        {"version", r.version},
        {"workers", r.workers},
        {"draining", r.draining},
        {"connections",
         {{"clients", connections.clients},
          {"max_clients", r.max_connections},
          {"upstreams", connections.upstreams},
          {"waiting", connections.waiting},
          {"tunnels", connections.tunnels}}},
        {"log_lines_dropped", r.dropped_lines},
        {"reload", std::move(reload)},
    };
}

boost::json::object rejection_json(
    const policy::policy& p, const limits::rejection& r, base::duration at, audience for_whom
)
{
    object one{
        {"at", seconds_of(at)},
        {"why", telemetry::refusal_reason_names[static_cast<std::size_t>(r.why)]},
        {"route", r.route},
        {"limit", r.limit},
        {"request_id", r.request_id},
    };
    if (r.retry_after > base::duration{0}) {
        one["retry_after"] = http::seconds_up(r.retry_after);
    }
    if (!r.bucket_name.empty()) {
        describe_bucket(p, {r.bucket_name, false, for_whom == audience::with_token}, one);
    }
    if (for_whom == audience::with_token) {
        one["client"] = r.client.to_string();
        one["method"] = r.method;
        one["host"] = r.host;
        one["path"] = r.path;
    }
    return one;
}

}  // namespace gateway::admin
