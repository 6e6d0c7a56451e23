// `request_record` is all that is known of one request, filled on its way: by intake, by its
// limits, by the exchange with its upstream, and at its end. Counters and the log read it.
// Ownership: a request, which uses it for one request after another.
// Thread: one thread only.
#pragma once

#include "gateway/content/usage_reader.hpp"
#include "gateway/http/grpc/grpc_response.hpp"
#include "gateway/http/output/limit_headers.hpp"
#include "gateway/http/request_id.hpp"
#include "gateway/intake/routed_request.hpp"
#include "gateway/limits/finished.hpp"
#include "gateway/limits/policy_view.hpp"
#include "gateway/limits/reservations/request_costs.hpp"
#include "gateway/limits/reservations/reservation.hpp"
#include "gateway/telemetry/metrics.hpp"
#include "gateway/tracing/trace_context.hpp"

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gateway::limits {

// `attempt` is one try to have the request answered by a server.
struct attempt {
    // Index of the server.
    std::uint8_t server = 0;
    // Its span, which the server sees as its parent; 0 without tracing.
    std::uint64_t span = 0;
    // Moments: a connection was asked for, it was there, and a part of the request was last sent.
    base::instant asked{};
    base::instant connected{};
    base::instant sent{};
    // Time from sending the request to reading the head of the response; negative: there was none.
    base::duration took{-1};
    // Status of that response.
    int status = 0;
};

struct attempts {
    // Most tries: the request is retried once.
    static constexpr std::size_t most = 2;

    std::array<attempt, most> all{};
    std::size_t count = 0;
    // Reason why no connection to the last server could be made; empty: the request did not fail
    // so.
    std::string unreachable;
    // Moment at which a connection was asked for that never came; nothing: each one came.
    std::optional<base::instant> unserved;

    // Requires: there was one.
    attempt& last() { return all[count - 1]; }

    const attempt& last() const { return all[count - 1]; }

    void clear()
    {
        count = 0;
        unreachable.clear();
        unserved.reset();
    }
};

struct request_record {
    http::request_id id;

    // ---- How it came.
    std::shared_ptr<const policy_view> view;
    // Its authority is valid during the admission only.
    intake::arrival by;
    // The peer's address in canonical form.
    std::string peer_text;

    // ---- Moments by the clock of the loop. Those that may not come are not set.
    base::instant received{};
    // The shared store was asked, and the limits have decided.
    std::optional<base::instant> store_asked;
    std::optional<base::instant> decided;
    // True if the request was held for its tokens. The moment at which it went on.
    bool held = false;
    std::optional<base::instant> released;

    // Its position in a trace; nothing without tracing, or without a valid head.
    std::optional<tracing::trace_context> trace;

    // ---- Intake.
    // The client's address, or the peer's until a head was valid and the client was looked for.
    base::ip_address client;
    // Null while no route is known.
    const policy::route* route = nullptr;
    telemetry::route_metrics* metrics = nullptr;

    // ---- Its limits.
    // True if a proxy asks for a decision on it, so that it is never forwarded.
    bool only_decided = false;
    // True if limits have rejected it, and it goes to the upstream that its route has for those.
    bool over_limit = false;
    // Charges that may still change.
    reservation reserved;
    std::vector<http::limit_report> reports;
    // Moment from which the times in limit headers count, in Unix time: the decision, or the end of
    // the wait if the request is held. Set only if it is reported to clients.
    base::duration reports_from{0};
    std::string_view deciding_limit;
    // Outcome of that limit, as it is logged.
    std::string_view outcome;
    // Reason why limits refuse the request, or nothing if they do not.
    std::optional<telemetry::refusal_reason> refused_for;
    // Wait that a refused client is told in Retry-After; 0 if it is told none.
    base::duration retry_after{0};
    // Bucket of the deciding limit, or an empty text if that simply allowed the request. The name
    // may be secret.
    std::string bucket_name;
    // Tokens under each limit, as far as they are known.
    request_costs costs;
    // Names of limits, separated by commas.
    std::string shadow_rejected;
    // The client's plans under the limits of its route: names separated by commas.
    std::string plans;

    // Values of the policy's log fields that the request has.
    std::vector<telemetry::field_value> log_fields;

    // ---- Its exchange with an upstream, and its end.
    limits::attempts attempts;
    finished end;
    // Reads what the content of the response says of the cost; null: nobody does.
    std::unique_ptr<content::usage_reader> usage;

    // Id of a JSON-RPC request, as encoded JSON; empty while it is not known. The reader of
    // the body sets it, if the route's errors have that form.
    std::string rpc_id;

    // ---- gRPC.
    // True if its client speaks it. The other members are then set.
    bool is_grpc = false;
    // The upstream's response.
    http::grpc_response grpc;
    // Outcome, once the request is over.
    http::grpc_status grpc_status = http::grpc_status::unknown;

    // Forgets the last request, and begins the next one, which came from `peer`. `secure` says
    // whether its connection is TLS. `client_tls` is what TLS says of the client, or null.
    void arrive(
        const std::shared_ptr<const policy_view>& to,
        const base::ip_address& peer,
        bool secure,
        const intake::client_tls* client_tls,
        base::instant now
    );

    // Takes up another configuration, by which the request is admitted anew.
    // Requires: nothing has been charged.
    void adopt(const std::shared_ptr<const policy_view>& to);

    // Forgets the last request.
    // Requires: `view` and `by` are those of the next one.
    void begin(base::instant now)
    {
        received = now;
        store_asked.reset();
        decided.reset();
        held = false;
        released.reset();
        trace.reset();
        client = by.peer;
        route = nullptr;
        metrics = view->no_route;
        only_decided = false;
        over_limit = false;
        reserved.clear();
        reports.clear();
        reports_from = base::duration{0};
        deciding_limit = {};
        outcome = {};
        refused_for.reset();
        retry_after = {};
        bucket_name.clear();
        costs.clear();
        shadow_rejected.clear();
        plans.clear();
        log_fields.clear();
        attempts.clear();
        end = {};
        usage.reset();
        rpc_id.clear();
        is_grpc = false;
        grpc = {};
    }

    // Returns the options of the route, or the general ones while it is not known.
    const http::options& http() const { return view->http_of(route); }

    // True if the route answers instead of an upstream. It has no upstream then.
    // Requires: the route is known.
    bool is_answered() const { return route->upstream == policy::no_upstream; }

    // True if limits may yet send it, or have sent it, to the route's other upstream.
    // Requires: the route is known.
    bool may_be_over_limit() const { return route->serves_over_limit() && !only_decided; }

    // Returns the pool of the upstream that serves the request.
    // Requires: !is_answered().
    proxy::pool& pool() const { return pool_if(over_limit); }

    // Returns the pool that serves it if it is over a limit, or if it is not.
    proxy::pool& pool_if(bool is_over) const
    {
        return *view->pools[is_over ? route->rejection->upstream : route->upstream];
    }

    // Returns the client's prefix: one value for a client, whichever of its addresses it uses.
    base::ip_address client_prefix() const { return intake::client_prefix(*view->policy, client); }

    // Returns the moment at which the local store decided, or the verdict was there without it;
    // nothing if no limit decided.
    std::optional<base::instant> decided_at() const
    {
        return decided && store_asked ? store_asked : decided;
    }

    http::limit_statement limit_statement() const
    {
        const http::limit_header_options& how = view->limit_headers;
        if (route == nullptr) {
            return {reports, how, reports_from};
        }
        return {
            .reports = reports,
            .options = how,
            .unix_now = reports_from,
            .due = route->reports_limits && how.any(),
            .words = route->limit_words,
            .may_warn = route->may_warn,
        };
    }

    // Returns the form of errors that the gateway makes itself.
    http::error_style error_style() const
    {
        if (route == nullptr || !route->rejection) {
            return {};
        }
        const policy::route_rejection& chosen = *route->rejection;
        return {
            .format = chosen.format, .rejects_with_200 = chosen.rejects_with_200, .rpc_id = rpc_id};
    }

    // Returns the changes that the route makes to response fields, or null if there are none.
    const http::field_edits* response_edits() const
    {
        return route != nullptr && route->shaped ? &route->shape.response : nullptr;
    }
};

}  // namespace gateway::limits
