// `request` is the shell of a request_state, over HTTP/1 and HTTP/2. It has the admitter, which
// finds the route and checks the limits, the upstream's side, and the account for counters and log.
//
// A client borrows it with its carrier while requests are on its connection. It serves one request
// after another, and the record holds the facts about each.
// Thread: one thread only.
#pragma once

#include "gateway/base/timer_wheel.hpp"
#include "gateway/client/requests/kept_head.hpp"
#include "gateway/client/requests/kept_request.hpp"
#include "gateway/client/requests/request_account.hpp"
#include "gateway/client/requests/request_host.hpp"
#include "gateway/client/requests/request_state.hpp"
#include "gateway/client/requests/upstream_side.hpp"
#include "gateway/client/session_environment.hpp"
#include "gateway/http/trace_parent.hpp"
#include "gateway/limits/admitter.hpp"
#include "gateway/limits/held_requests.hpp"

#include <memory>
#include <optional>
#include <string>

namespace gateway::client {

class request final : private request_port,
                      private limits::verdict_listener,
                      private limits::held_request,
                      private base::timer_entry {
public:
    // Ownership: all arguments outlive this object.
    request(session_environment& env, request_carrier& carrier)
        : env_(env),
          admitter_(env.checks, env.abandoned_checks, env.scratch, env.loop.clock(), record_),
          account_(env),
          upstream_(env, record_, state_),
          state_(*this, upstream_, carrier)
    {}

    ~request() override = default;

    request_state& state() { return state_; }

    const request_state& state() const { return state_; }

    // True if it keeps another view alive.
    bool holds_other_than(const limits::policy_view& present) const
    {
        const limits::policy_view* const held = record_.view.get();
        return held != nullptr && held != &present;
    }

    // Sets the connection that the request belongs to. Called before the events of each.
    void attend_to(request_host& host)
    {
        host_ = &host;
        upstream_.attend_to(host);
    }

    base::duration response_timeout() const { return upstream_.response_timeout(); }

    // Begins to wait for bytes from the upstream, if they are wanted.
    void want_upstream_bytes() { upstream_.want_bytes(); }

private:
    session_environment& env_;
    request_host* host_ = nullptr;
    limits::request_record record_;
    limits::admitter admitter_;
    request_account account_;
    // Value of traceparent for the server, if the request's is not kept.
    http::trace_parent_text trace_parent_{};
    // Head of a request that waits for keys; null: it does not.
    std::unique_ptr<kept_head> awaiting_;
    // Moment until which it may wait for keys at most; nothing: it has not.
    std::optional<base::instant> keys_until_;
    // True if the client has set the time that ends the request, and not its route.
    bool has_deadline_ = false;
    // The status of a refusal that `rejected_status` replaces.
    std::string decision_status_;
    // The request while its content is read ahead, and until its end; null: it is not.
    std::unique_ptr<kept_request> kept_;
    upstream_side upstream_;
    request_state state_;

    void admit_anew();
    void keep_text(const http::request_head& head, const limits::admission& a);
    limits::admission decide_about(const http::request_head& head);
    content::path_set paths_that_count() const;
    limits::admission answer(const http::request_head& check);
    limits::admission as_answer(limits::admission a);
    limits::admission held_or(limits::admission a);
    limits::admission answered_or(limits::admission a) const;
    http::forward_options forwarding_if(const http::request_head& head, bool over_limit);
    void settled(const limits::admission& a);
    void begin_timeout(const http::request_head& head);
    http::grpc_status outcome_of(const limits::finished& f) const;

    // request_port
    void request_begins(bool is_grpc) override;
    limits::admission admit(const http::request_head& head) override;
    content_reading read(std::string_view content, bool last, std::string_view trailers) override;
    limits::admission admit_by_content() override;

    request_ahead ahead() const override { return kept_->ahead(); }

    void ahead_sent() override { kept_->release(); }

    bool read_on(std::string_view content, bool last) override;

    http::forward_options forwarding(const http::request_head& head) override
    {
        return forwarding_if(head, record_.over_limit);
    }

    std::optional<http::forward_options> forwarding_over_limit(const http::request_head& head
    ) override;
    http::added_fields added_fields() const override;

    bool is_grpc() const override { return record_.is_grpc; }

    void tunnel_begins() override;
    void tunnel_carries(proxy::tunnel_side from, std::size_t bytes) override;
    void request_ends(const limits::finished& f) override;
    // verdict_listener
    void decided(const limits::verdict& v) override;
    bool awaits_keys() override;
    // held_request
    void hold_is_over() override;
    // timer_entry
    void expired(base::instant now) override;
};

}  // namespace gateway::client
