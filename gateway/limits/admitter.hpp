// What happens to a request before it goes anywhere: its route, its client, its limits.
// One per request; the costly part, the check, is borrowed from the worker while it is needed.
#pragma once

#include "gateway/http/output/forward_request.hpp"
#include "gateway/intake/client_tls.hpp"
#include "gateway/limits/admission.hpp"
#include "gateway/limits/check_pool.hpp"
#include "gateway/limits/policy_view.hpp"
#include "gateway/limits/scratch.hpp"

#include <memory>
#include <optional>
#include <string>

namespace gateway::limits {

class admitter {
public:
    admitter(check_pool& checks, scratch& memory) : checks_(checks), scratch_(memory) {}

    // Before each request. `secure`: its connection is TLS, which may tell nothing: `tls` is null.
    void reset(
        const std::shared_ptr<const policy_view>& view,
        const base::ip_address& peer,
        bool secure,
        const intake::client_tls* tls
    );

    // As request_port::admit; with `wait`, `listener` is called and conclude() gives the rest.
    // `came` is what came on the connection: the request itself, or a question about it.
    admission admit(
        const http::request_head& head, const http::request_head& came, verdict_listener& listener
    );
    admission conclude(const verdict& v);
    void abandon();

    // But what TLS tells of the client, and the ids of the request.
    http::forward_options forwarding(const http::request_head& head) const;

    // Of the request; null before the first one.
    const policy_view* view() const { return view_.get(); }

    const std::shared_ptr<const policy_view>& shared_view() const { return view_; }

    const policy::route* route() const { return route_; }

    // The options of the route, once it is known.
    const http::options& http() const { return view_->http_of(route_); }

    telemetry::route_metrics& metrics() const { return *metrics_; }

    // What its response may correct.
    reservation& reserved() { return reserved_; }

    proxy::pool& pool() const { return *view_->pools[route_->upstream]; }

    const base::ip_address& peer() const { return peer_; }

    // The peer, until a head was valid and the client was looked for.
    const base::ip_address& client() const { return client_; }

    // The client's prefix: one value for a client, whichever of its addresses it uses.
    base::ip_address client_prefix() const
    {
        const identity::client_options& options = view_->policy->client;
        return client_.masked(options.ipv4_prefix, options.ipv6_prefix);
    }

    http::limit_statement limits_said() const
    {
        const http::limit_header_options& how = view_->limit_headers;
        return {reports_, how, decided_at_, route_ != nullptr && route_->enforces && how.any()};
    }

    // Whether its route answers instead of an upstream, of which there is none then.
    bool is_answered() const { return route_->upstream == policy::no_upstream; }

    // What such a route says, to a request that may go on.
    admission answer() const;

    // A refusal by limits as its route has it.
    admission as_rejection(admission a) const;

    // Of a request that was to be held so long, and for which there is no room: to clients the
    // limits that it had to wait for reject it.
    admission as_turned_away(base::duration hold);

    // Of its route; null: none.
    const http::field_edits* response_edits() const
    {
        return route_ != nullptr && route_->shaped ? &route_->shape.response : nullptr;
    }

    std::string_view deciding_limit() const { return deciding_limit_; }

    std::string_view outcome() const { return outcome_; }

    // The reason why limits refuse the request; nothing: they do not.
    std::optional<telemetry::refusal_reason> refused_for() const { return refused_for_; }

    // Of the deciding limit, unless it simply allowed the request; may be secret.
    std::string_view bucket_name() const { return bucket_name_; }

    std::string_view shadow_rejected() const { return shadow_rejected_; }

    // The client's plans under the limits of its route: names separated by commas.
    std::string_view plans() const { return plans_; }

    bool peer_trusted() const { return peer_trusted_; }

private:
    check_pool& checks_;
    scratch& scratch_;
    std::shared_ptr<const policy_view> view_;
    base::ip_address peer_;
    std::string peer_text_;
    bool secure_ = false;
    const intake::client_tls* tls_ = nullptr;
    // Whether the view's configuration trusts the peer.
    bool peer_trusted_ = false;

    const policy::route* route_ = nullptr;
    telemetry::route_metrics* metrics_ = nullptr;
    // The borrowed check, while its verdict is awaited.
    std::unique_ptr<limit_check> check_;

    reservation reserved_;
    base::ip_address client_;
    std::vector<http::limit_report> reports_;
    // When the limits decided, in Unix time; set only if clients are told of it.
    base::duration decided_at_{0};

    // The line Location of a redirect.
    std::string location_;
    std::string_view deciding_limit_;
    std::string_view outcome_;
    std::optional<telemetry::refusal_reason> refused_for_;
    std::string bucket_name_;
    // Names of limits, separated by commas.
    std::string shadow_rejected_;
    std::string plans_;
    // Why the request is refused, where that is no constant text.
    std::string detail_;

    base::ip_address find_client(const http::request_head& head) const;
    void prepare_redirect(const http::request_head& head);
    void remember(const verdict& v, base::duration hold);
    void reserve(limit_check::reserving what);
};

}  // namespace gateway::limits
