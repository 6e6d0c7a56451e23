// `http1_connection` is what a client's connection needs while requests are on it: the HTTP/1
// machine (http1_state) and the request that it carries at the moment.
//
// It is lent to a session with the first byte of a request and given back when nothing is left to
// do, so that an idle connection has none.
// Ownership: its session, while it is lent.
// Thread: one thread only.
#pragma once

#include "gateway/client/http1/http1_state.hpp"
#include "gateway/client/requests/request.hpp"
#include "gateway/client/session_environment.hpp"

namespace gateway::client {

class http1_connection {
public:
    // Ownership: `env` outlives this object.
    explicit http1_connection(session_environment& env)
        : state_({env.scratch.out, env.scratch.request, env.date}), request_(env, state_)
    {
        state_.carry(request_.state());
    }

    // Sets the session that it serves. Called first whenever it is lent.
    void attend_to(http1_port& client, request_host& host)
    {
        state_.attend_to(client);
        request_.attend_to(host);
    }

    http1_state& state() { return state_; }

    // Begins to wait for bytes from the upstream, if they are wanted.
    void want_upstream_bytes() { request_.want_upstream_bytes(); }

    // True if it keeps another view alive.
    bool holds_other_than(const limits::policy_view& present) const
    {
        return request_.holds_other_than(present);
    }

    base::duration response_timeout() const { return request_.response_timeout(); }

private:
    http1_state state_;
    request request_;
};

}  // namespace gateway::client
