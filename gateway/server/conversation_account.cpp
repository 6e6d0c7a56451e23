// What a conversation tells of its requests: counters, histograms, and the access log.
#include "gateway/base/hash.hpp"
#include "gateway/http/request_id.hpp"
#include "gateway/server/session.hpp"
#include "gateway/telemetry/log.hpp"

#include <algorithm>
#include <atomic>

namespace gateway::server {

void conversation::request_begins()
{
    began_ = env_.loop.now();
    sending_ = {};
    client_->begin_deadlines_anew();
    method_ = telemetry::method_names.size() - 1;
    admitter_.reset(env_.view, client_->peer());
}

admission conversation::admit(const http::request_head& head)
{
    method_ = telemetry::method_index(head.method);
    if (env_.access_log_enabled) {
        log_ = std::make_unique<log_fields>();
        log_->method = head.method;
        log_->host = head.authority;
        log_->target = head.path;
        log_->request_id = http::request_id(head);
    }
    if (head.names_client && !admitter_.peer_trusted()) {
        note_untrusted_forwarding(head);
    }
    return admitter_.admit(head, *this);
}

// What a load balancer looks like that nobody has told us of; so do strangers who try their luck.
void conversation::note_untrusted_forwarding(const http::request_head& head)
{
    static std::atomic_flag told;  // one line for the whole process
    env_.metrics.untrusted_forwarded.add();
    if (told.test_and_set(std::memory_order_relaxed)) {
        return;
    }
    constexpr http::field_name_set names{
        http::field_name::forwarded,
        http::field_name::x_forwarded_for,
        http::field_name::x_real_ip};
    const auto said = std::find_if(head.fields.begin(), head.fields.end(), [&](const auto& f) {
        return names.contains(f.id);
    });
    telemetry::log(
        telemetry::log_level::warning,
        "peer " + admitter_.peer().to_string() + " sends " + std::string(said->name) +
            ", but is not in client.trusted_proxies: it counts as the client itself. If it is a "
            "proxy "
            "of yours, list it there (told once; gateway_untrusted_forwarded_total counts all)"
    );
}

void conversation::request_ends(const finished& f)
{
    admitter_.abandon();
    if (state_.at() == session_state::phase::tunnelling) {
        env_.metrics.tunnels.add(-1);
    } else {
        count_request(f.status);
    }
    if (env_.access_log_enabled) {
        log_request(f);
    }
    log_.reset();  // whether the log is still on or not: the next request may be another client's
}

void conversation::count_request(int status)
{
    telemetry::route_metrics& metrics = admitter_.metrics();
    metrics.count_request(method_, status != 0 ? status : 499);
    metrics.duration.observe(env_.loop.now() - began_);
}

// A tunnel's handshake is over: its hours must not look like a slow answer.
void conversation::tunnel_begins()
{
    count_request(101);
    env_.metrics.tunnels.add(1);
    env_.metrics.tunnels_opened.add();
}

void conversation::tunnel_carries(proxy::tunnel_side from, std::size_t bytes)
{
    const bool by_client = from == proxy::tunnel_side::client;
    auto& carried =
        by_client ? env_.metrics.tunnel_bytes_of_clients : env_.metrics.tunnel_bytes_of_upstreams;
    carried.add(bytes);
}

void conversation::log_request(const finished& f)
{
    const policy::route* const route = admitter_.route();
    telemetry::access_record record{
        .client = admitter_.client(),
        .peer = admitter_.peer(),
        .method = {},
        .host = {},
        .target = {},
        .route = route != nullptr ? std::string_view(route->name) : std::string_view{},
        .upstream = route != nullptr ? std::string_view(admitter_.pool().options().name)
                                     : std::string_view{},
        .limit = admitter_.deciding_limit(),
        .outcome = admitter_.outcome(),
        .bucket = {},
        .shadow_rejected = admitter_.shadow_rejected(),
        .request_id = {},
        .server = {},
        .upstream_time = sending_.took,
        .attempts = sending_.attempts,
        .status = f.status != 0 ? f.status : 499,
        .request_bytes = f.request_bytes,
        .response_bytes = f.response_bytes,
        .duration = env_.loop.now() - began_,
        .error = f.error,
    };
    if (log_ != nullptr) {
        record.method = log_->method;
        record.host = log_->host;
        record.target = log_->target;
        record.request_id = log_->request_id;
    }
    if (sending_.attempts > 0) {
        record.server = admitter_.pool().name_of(sending_.server);
    }
    std::string bucket;
    if (!admitter_.bucket_name().empty()) {
        bucket = base::sha256_hex128(admitter_.bucket_name());
        record.bucket = bucket;
    }
    env_.access_log.write(record);
}

}  // namespace gateway::server
