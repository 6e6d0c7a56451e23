#include "gateway/client/requests/request_account.hpp"

#include "gateway/base/hash.hpp"
#include "gateway/client/requests/id_source.hpp"
#include "gateway/limits/reports/recent_rejections.hpp"
#include "gateway/telemetry/log.hpp"

#include <algorithm>
#include <atomic>

namespace gateway::client {

namespace {

// Returns the key that sets a bound for requests of a route, which is the route's own if it has
// one.
std::string_view key_in_force(std::string_view bound, const policy::route* route)
{
    if (route != nullptr) {
        const policy::route_bounds& own = route->bounds;
        if (own.response_timeout && bound == "upstreams.response_timeout") {
            return "routes.response_timeout";
        }
        if (own.body_timeout && bound == "http.body_timeout") {
            return "routes.body_timeout";
        }
        if (own.max_body_bytes && bound == "http.max_body_bytes") {
            return "routes.max_body_bytes";
        }
    }
    return bound;
}

// True if the end of the request may be one that is recorded.
bool may_be_recorded(const limits::request_record& of)
{
    return of.trace && tracing::is_recorded(*of.trace, of.view->sampling, true, true);
}

// Returns why a request failed, with details that no response reports.
std::string error_of(const limits::request_record& of)
{
    std::string error(of.end.error);
    if (!error.empty() && !of.attempts.unreachable.empty()) {
        error.append(": ").append(of.attempts.unreachable);
    }
    if (!of.end.bound.empty()) {
        error.append(" (").append(key_in_force(of.end.bound, of.route)).append(")");
    }
    return error;
}

}  // namespace

void request_account::begin()
{
    method_ = telemetry::method_names.size() - 1;
}

void request_account::note(const http::request_head& head, const limits::request_record& of)
{
    method_ = telemetry::method_index(head.method);
    if (env_.access_log_enabled || may_be_recorded(of)) {
        keep_text(head);
    }
    if (head.names_client && !of.by.peer_trusted) {
        note_untrusted_forwarding(head, of.by.peer);
    }
}

void request_account::may_be_rejected(const http::request_head& head)
{
    if (text_ == nullptr) {
        keep_text(head);
    }
}

void request_account::keep_text(const http::request_head& head)
{
    text_ = std::make_unique<kept_text>();
    text_->method = head.method;
    text_->host = head.authority;
    text_->target = head.path;
}

// Counts a request whose headers name a client although its peer is not trusted, and warns of the
// first one. The peer may be a load balancer that is missing from the configuration, or a stranger
// who tries such headers.
void request_account::note_untrusted_forwarding(
    const http::request_head& head, const base::ip_address& peer
)
{
    static std::atomic_flag warned;  // One line is logged for the whole process.
    env_.metrics.untrusted_forwarded.add();
    if (warned.test_and_set(std::memory_order_relaxed)) {
        return;
    }
    constexpr http::field_name_set names{
        http::field_name::forwarded,
        http::field_name::x_forwarded_for,
        http::field_name::x_real_ip};
    const auto named = std::find_if(head.fields.begin(), head.fields.end(), [&](const auto& f) {
        return names.contains(f.id);
    });
    telemetry::log(
        telemetry::log_level::warning,
        "peer " + peer.to_string() + " sends " + std::string(named->name) +
            ", but is not in client.trusted_proxies: it counts as the client itself. If it is a "
            "proxy of yours, list it there (logged once; gateway_untrusted_forwarded_total counts "
            "all)"
    );
}

void request_account::end(const limits::request_record& of)
{
    if (of.trace) {
        record_spans(of);
    }
    if (of.end.tunnelled) {
        env_.metrics.tunnels.add(-1);
    } else {
        count(of.end.shown_status(), of.end.intended, of);
    }
    if (of.is_grpc) {
        of.metrics->count_grpc(http::number_of(of.grpc_status));
    }
    if (of.refused_for && text_ != nullptr) {
        note_rejection(of);
    }
    if (env_.access_log_enabled) {
        log(of);
    }
    // Reset even if the log is off by now, as the next request may be another client's.
    text_.reset();
}

void request_account::note_rejection(const limits::request_record& of)
{
    env_.rejections.add({
        .at = env_.loop.now(),
        .why = *of.refused_for,
        .route = of.route->name,
        .limit = of.deciding_limit,
        .client = of.client,
        .bucket_name = of.bucket_name,
        .retry_after = of.retry_after,
        .request_id = of.id.text(),
        .method = text_->method,
        .host = text_->host,
        .path = text_->target,
    });
}

// Hands the spans of the request to the exporter, if the request is one to record.
void request_account::record_spans(const limits::request_record& of)
{
    const bool rejected = of.refused_for.has_value();
    if (!tracing::is_recorded(*of.trace, of.view->sampling, rejected, has_failed(of)) ||
        text_ == nullptr) {
        return;
    }
    of.metrics->note_traced(
        {.trace_high = of.trace->trace.high,
         .trace_low = of.trace->trace.low,
         .value = env_.loop.now() - of.received,
         .at = env_.loop.now().time_since_epoch() + env_.access_log.to_unix()}
    );
    env_.spans.add(spans_of(of, *text_, env_.loop.now(), env_.access_log.to_unix(), [this] {
        return env_.ids.random();
    }));
}

void request_account::count(int status, bool intended, const limits::request_record& of)
{
    telemetry::route_metrics& metrics = *of.metrics;
    if (const auto reason = of.refused_for) {
        metrics.refused[static_cast<std::size_t>(*reason)].add();
    }
    if (of.over_limit) {
        metrics.over_limit.add();
    }
    if (status >= 500 && !intended) {
        metrics.server_errors.add();
    }
    metrics.count_request(method_, status);
    metrics.duration.observe(env_.loop.now() - of.received);
}

void request_account::tunnel_begins(const limits::request_record& of)
{
    count(101, false, of);
    env_.metrics.tunnels.add(1);
    env_.metrics.tunnels_opened.add();
}

void request_account::tunnel_carries(proxy::tunnel_side from, std::size_t bytes)
{
    const bool by_client = from == proxy::tunnel_side::client;
    auto& carried =
        by_client ? env_.metrics.tunnel_bytes_of_clients : env_.metrics.tunnel_bytes_of_upstreams;
    carried.add(bytes);
}

void request_account::log(const limits::request_record& of)
{
    const policy::route* const route = of.route;
    const std::string error = error_of(of);
    const limits::attempt* const last = of.attempts.count > 0 ? &of.attempts.last() : nullptr;
    telemetry::access_record record{
        .client = of.client,
        .peer = of.by.peer,
        .method = {},
        .host = {},
        .target = {},
        .route = route != nullptr ? std::string_view(route->name) : std::string_view{},
        .upstream = route != nullptr && !of.is_answered()
                        ? std::string_view(of.pool().options().name)
                        : std::string_view{},
        .limit = of.deciding_limit,
        .outcome = of.outcome,
        .plans = of.plans,
        .bucket = {},
        .decided = of.decided_at(),
        .costs = of.costs.all(),
        .fields = of.log_fields,
        .shadow_rejected = of.shadow_rejected,
        .request_id = of.id.text(),
        .server = {},
        .upstream_time = last != nullptr ? last->took : base::duration{-1},
        .attempts = static_cast<std::uint32_t>(of.attempts.count),
        .status = of.end.shown_status(),
        .grpc_status = of.is_grpc ? std::optional{http::number_of(of.grpc_status)} : std::nullopt,
        .request_bytes = of.end.request_bytes,
        .response_bytes = of.end.response_bytes,
        .duration = env_.loop.now() - of.received,
        .error = error,
    };
    if (text_ != nullptr) {
        record.method = text_->method;
        record.host = text_->host;
        record.target = text_->target;
    }
    if (last != nullptr) {
        record.server = of.pool().names().text_of(last->server);
    }
    std::string bucket;
    if (!of.bucket_name.empty()) {
        bucket = base::sha256_hex128(of.bucket_name);
        record.bucket = bucket;
    }
    env_.access_log.write(record);
}

}  // namespace gateway::client
