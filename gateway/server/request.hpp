// The shell of a request, whatever carries it: where it goes and what its limits say (admitter),
// its upstream's side, and what counters and log want to know of it.
//
// Lent with its carrier to a client while requests are on its connection; serves one after another.
// One thread.
#pragma once

#include "gateway/server/admitter.hpp"
#include "gateway/server/held_requests.hpp"
#include "gateway/server/request_account.hpp"
#include "gateway/server/request_host.hpp"
#include "gateway/server/request_state.hpp"
#include "gateway/server/session_environment.hpp"
#include "gateway/server/upstream_side.hpp"

namespace gateway::server {

class request final : private request_port, private verdict_listener, private held_request {
public:
    // All of them outlive it.
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

    // Its configuration, which is the one it began with; nothing before the first request.
    const policy_view* view() const { return admitter_.view(); }

    const proxy::upstream_options& upstream() const { return upstream_.upstream(); }

    // Begins to wait for bytes of the upstream, if there is need of them.
    void want_upstream_bytes() { upstream_.want_bytes(); }

private:
    session_environment& env_;
    request_host& host_;
    admitter admitter_;
    request_account account_;
    upstream_side upstream_;
    request_state state_;

    admission answer(const http::request_head& question);
    admission as_answer(admission a);
    admission held_or(admission a);
    admission answered_or(admission a) const;
    void settled(const admission& a);

    // request_port
    void request_begins() override;
    admission admit(const http::request_head& head) override;

    http::forward_options forwarding(const http::request_head& head) const override
    {
        http::forward_options options = admitter_.forwarding(head);
        options.secure = host_.is_secure();
        const client_tls* const told = host_.told_tls();
        if (told != nullptr && told->forwarded && told->certificate) {
            options.client_cert = told->certificate->field;
            options.client_cert_chain = told->certificate->chain_field;
        }
        return options;
    }

    http::limit_statement limits_said() const override { return admitter_.limits_said(); }

    const http::field_edits* response_edits() const override
    {
        return host_.decide() ? nullptr : admitter_.response_edits();
    }

    void tunnel_begins() override;
    void tunnel_carries(proxy::tunnel_side from, std::size_t bytes) override;
    void request_ends(const finished& f) override;
    // verdict_listener
    void decided(const verdict& v) override;
    // held_request
    void tokens_are_there() override;
};

}  // namespace gateway::server
