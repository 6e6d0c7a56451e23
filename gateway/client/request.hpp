// `request` is the shell of a request_state, whatever carries it. It has the admitter, which finds
// the route and asks the limits, the upstream's side, and the account for counters and log.
//
// It is lent with its carrier to a client while requests are on its connection, and serves one
// after another.
// Thread: one thread only.
#pragma once

#include "gateway/base/timer_wheel.hpp"
#include "gateway/client/request_account.hpp"
#include "gateway/client/request_host.hpp"
#include "gateway/client/request_state.hpp"
#include "gateway/client/session_environment.hpp"
#include "gateway/client/upstream_side.hpp"
#include "gateway/http/request_id.hpp"
#include "gateway/http/trace_parent.hpp"
#include "gateway/limits/admitter.hpp"
#include "gateway/limits/held_requests.hpp"

#include <array>
#include <string_view>

namespace gateway::client {

class request final : private request_port,
                      private limits::verdict_listener,
                      private limits::held_request,
                      private base::timer_entry {
public:
    // Ownership: all arguments outlive this object.
    request(session_environment& env, request_carrier& carrier, request_host& host)
        : env_(env),
          host_(host),
          admitter_(env.checks, env.scratch),
          account_(env),
          upstream_(env, admitter_, state_, host),
          state_(*this, upstream_, carrier)
    {}

    ~request() override = default;

    request_state& state() { return state_; }

    // Returns the configuration that the request began with, or null before the first request.
    const limits::policy_view* view() const { return admitter_.view(); }

    // Returns the options of its route.
    // Requires: view() is not null.
    const http::options& http() const { return admitter_.http(); }

    base::duration response_timeout() const { return upstream_.response_timeout(); }

    // Begins to wait for bytes from the upstream, if they are wanted.
    void want_upstream_bytes() { upstream_.want_bytes(); }

private:
    session_environment& env_;
    request_host& host_;
    limits::admitter admitter_;
    request_account account_;
    http::request_id id_;
    // Value of traceparent for a trace that starts with the request.
    http::trace_parent_text trace_parent_{};
    // The line "X-Decision-Status: 429" with its CRLF.
    std::array<char, 24> decision_line_{};
    upstream_side upstream_;
    request_state state_;

    void keep_told_id(const http::request_head& head);
    limits::admission answer(const http::request_head& question);
    limits::admission as_answer(limits::admission a);
    std::string_view decision_line(int status);
    limits::admission held_or(limits::admission a);
    limits::admission answered_or(limits::admission a) const;
    void settled(const limits::admission& a);
    void begin_timeout();

    // request_port
    void request_begins() override;
    limits::admission admit(const http::request_head& head) override;

    http::forward_options forwarding(const http::request_head& head) override;

    http::limit_statement limits_said() const override { return admitter_.limits_said(); }

    std::string_view request_id() const override { return id_.line(); }

    const http::field_edits* response_edits() const override
    {
        return host_.decide() ? nullptr : admitter_.response_edits();
    }

    void tunnel_begins() override;
    void tunnel_carries(proxy::tunnel_side from, std::size_t bytes) override;
    void request_ends(const finished& f) override;
    // verdict_listener
    void decided(const limits::verdict& v) override;
    // held_request
    void tokens_are_there() override;
    // timer_entry
    void expired(base::instant now) override;
};

}  // namespace gateway::client
