// `admitter` decides what happens to a request before it goes anywhere: its route, its client, its
// limits. It serves one request at a time. The costly part, the limit check, is borrowed from the
// worker while it is needed.
#pragma once

#include "gateway/http/output/forward_request.hpp"
#include "gateway/intake/routed_request.hpp"
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

    // Prepares for the next request. `secure` says whether its connection is TLS. `tls` is what TLS
    // says of the client, or null, which it can be for a secure connection, too.
    void reset(
        const std::shared_ptr<const policy_view>& view,
        const base::ip_address& peer,
        bool secure,
        const intake::client_tls* tls
    );

    // Decides about a request, as request_port::admit() does. After `wait`, `listener` hears the
    // verdict and conclude() returns the admission. `came` is the request on the connection: `head`
    // itself, or the subrequest that asks a decide listener about it.
    admission admit(
        const http::request_head& head, const http::request_head& came, verdict_listener& listener
    );
    admission conclude(const verdict& v);
    void abandon();

    // Returns how to forward the request, without its id, its trace and the client's certificate.
    http::forward_options forwarding(const http::request_head& head) const;

    // Returns the view of the request, or null before the first one.
    const policy_view* view() const { return view_.get(); }

    const std::shared_ptr<const policy_view>& shared_view() const { return view_; }

    const policy::route* route() const { return route_; }

    // Returns the options of the route, or the general ones while it is not known.
    const http::options& http() const { return view_->http_of(route_); }

    telemetry::route_metrics& metrics() const { return *metrics_; }

    // Returns what the request has taken that may still change.
    reservation& reserved() { return reserved_; }

    proxy::pool& pool() const { return *view_->pools[route_->upstream]; }

    const base::ip_address& peer() const { return by_.peer; }

    // Returns the client's address, or the peer's until a head was valid and the client was looked
    // for.
    const base::ip_address& client() const { return client_; }

    // Returns the client's prefix: one value for a client, whichever of its addresses it uses.
    base::ip_address client_prefix() const
    {
        return intake::client_prefix(*view_->policy, client_);
    }

    http::limit_statement limits_said() const
    {
        const http::limit_header_options& how = view_->limit_headers;
        return {reports_, how, decided_at_, route_ != nullptr && route_->enforces && how.any()};
    }

    // True if the route answers instead of an upstream. It has no upstream then.
    bool is_answered() const { return route_->upstream == policy::no_upstream; }

    // Returns the response of such a route to a request that may go on.
    admission answer() const;

    // Returns a refusal by limits with the status and the page that the route has for it.
    admission as_rejection(admission a) const;

    // Returns the rejection of a request that was to be held for so long, but for which there is no
    // room. The client is told that the limits have rejected it that it would have waited for.
    admission as_turned_away(base::duration hold);

    // Returns the changes that the route makes to response fields, or null if there are none.
    const http::field_edits* response_edits() const
    {
        return route_ != nullptr && route_->shaped ? &route_->shape.response : nullptr;
    }

    std::string_view deciding_limit() const { return deciding_limit_; }

    std::string_view outcome() const { return outcome_; }

    // Returns why limits refuse the request, or nothing if they do not.
    std::optional<telemetry::refusal_reason> refused_for() const { return refused_for_; }

    // Returns the bucket of the deciding limit, or an empty text if that simply allowed the
    // request. The name may be secret.
    std::string_view bucket_name() const { return bucket_name_; }

    std::string_view shadow_rejected() const { return shadow_rejected_; }

    // Returns the client's plans under the limits of its route: names separated by commas.
    std::string_view plans() const { return plans_; }

    bool peer_trusted() const { return by_.peer_trusted; }

private:
    check_pool& checks_;
    scratch& scratch_;
    std::shared_ptr<const policy_view> view_;
    // Its authority is valid during admit() only.
    intake::arrival by_;
    std::string peer_text_;

    const policy::route* route_ = nullptr;
    telemetry::route_metrics* metrics_ = nullptr;
    // The borrowed check, while its verdict is awaited.
    std::unique_ptr<limit_check> check_;

    reservation reserved_;
    base::ip_address client_;
    std::vector<http::limit_report> reports_;
    // Moment from which the times in limit headers count, in Unix time: the decision, or the end of
    // the wait if the request is held. Set only if clients are told of it.
    base::duration decided_at_{0};

    // The `Location` line of a redirect.
    std::string location_;
    std::string_view deciding_limit_;
    std::string_view outcome_;
    std::optional<telemetry::refusal_reason> refused_for_;
    std::string bucket_name_;
    // Names of limits, separated by commas.
    std::string shadow_rejected_;
    std::string plans_;
    // Reason for the refusal, if it is not a constant text.
    std::string detail_;

    void prepare_redirect(const http::request_head& head);
    void remember(const verdict& v, base::duration hold);
    void reserve(reserving what);
};

}  // namespace gateway::limits
