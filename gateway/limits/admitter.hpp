// `admitter` decides what happens to a request before it goes anywhere: its route, its client, its
// limits. It serves one request at a time. The costly part, the limit check, is borrowed from the
// worker while it is needed.
#pragma once

#include "gateway/http/output/forward_request.hpp"
#include "gateway/limits/admission.hpp"
#include "gateway/limits/checks/abandoned_checks.hpp"
#include "gateway/limits/checks/check_pool.hpp"
#include "gateway/limits/request_record.hpp"
#include "gateway/limits/scratch.hpp"

#include <memory>
#include <string>

namespace gateway::limits {

class admitter {
public:
    // Ownership: all arguments outlive this object. It fills in its part of the record.
    admitter(
        check_pool& checks,
        abandoned_checks& abandoned,
        scratch& memory,
        const base::turn_clock& c,
        request_record& record
    )
        : checks_(checks), abandoned_(abandoned), scratch_(memory), clock_(c), record_(record)
    {}

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

    // Gives up waiting for the verdict, as the request has ended after so many bytes of content. It
    // is charged all the same.
    void abandon(std::uint64_t request_bytes);

    // Returns how to forward the request, without its id, its trace and the client's certificate.
    // `over_limit` says to which upstream of its route.
    http::forward_options forwarding(const http::request_head& head, bool over_limit) const;

    // Returns the response of a route that answers itself, to a request that may go on.
    // Requires: record.is_answered().
    admission answer() const;

    // Returns what becomes of a request that limits reject: the refusal `a` with the status and the
    // page that the route has for it, or another upstream, unless a ban rejects it.
    admission as_rejection(admission a, bool banned);

    // Returns the rejection of a request that was to be held for so long, but for which there is no
    // room. The response reports a rejection by the limits that it would have waited for.
    admission as_turned_away(base::duration hold);

private:
    check_pool& checks_;
    abandoned_checks& abandoned_;
    scratch& scratch_;
    const base::turn_clock& clock_;
    request_record& record_;
    // The borrowed check, while its verdict is awaited.
    std::unique_ptr<limit_check> check_;
    // The target of a redirect.
    std::string location_;
    // Reason for the refusal, if it is not a constant text.
    std::string detail_;

    admission admit_routed(
        const http::request_head& head,
        const intake::routed_request& routed,
        intake::key_subject& subject,
        verdict_listener& listener
    );
    admission without_keys(std::size_t limit);
    void note_log_fields(intake::key_subject& subject, const admission& a);
    void prepare_redirect(const http::request_head& head);
    void remember(const verdict& v, base::duration hold);
};

}  // namespace gateway::limits
