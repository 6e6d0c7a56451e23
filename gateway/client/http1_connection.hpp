// `http1_connection` is what a client's connection needs while requests are on it: the HTTP/1
// machine (http1_state), whose shell it is, and the request that it carries at the moment.
//
// It is lent to a session with the first byte of a request and given back when nothing is left to
// do, so that an idle connection has none.
// Ownership: its session, while it is lent.
// Thread: one thread only.
#pragma once

#include "gateway/client/http1_state.hpp"
#include "gateway/client/request.hpp"
#include "gateway/client/request_host.hpp"
#include "gateway/client/session.hpp"
#include "gateway/client/session_environment.hpp"

namespace gateway::client {

class http1_connection final : private http1_port, private request_host {
public:
    explicit http1_connection(session_environment& env)
        : env_(env), state_(*this), request_(env, state_, *this)
    {
        state_.carry(request_.state());
    }

    ~http1_connection() = default;

    // Sets the session that it serves. Called first whenever it is lent.
    void attend_to(session& client) { client_ = &client; }

    http1_state& state() { return state_; }

    // Begins to wait for bytes from the upstream, if they are wanted.
    void want_upstream_bytes() { request_.want_upstream_bytes(); }

    // True if it keeps another view alive.
    bool holds_other_than(const limits::policy_view& present) const
    {
        const limits::policy_view* const held = request_.view();
        return held != nullptr && held != &present;
    }

    base::duration response_timeout() const { return request_.response_timeout(); }

    // Returns the options of the present configuration until a request begins. From then on they
    // are those that the request began with, and of its route.
    const http::options& limits() const override
    {
        const bool begun = state_.in_request() && request_.view() != nullptr;
        return begun ? request_.http() : env_.view->http;
    }

private:
    session_environment& env_;
    session* client_ = nullptr;
    http1_state state_;
    request request_;

    // http1_port
    std::string_view date_line() const override { return env_.date.text(); }

    std::string& out() override { return env_.scratch.out; }

    http::request_head& request_head_storage() override { return env_.scratch.request; }

    void send_client(std::string_view a, std::string_view b) override { client_->send(a, b); }

    bool client_blocked() const override { return client_->sending(); }

    void end_sending() override { client_->finish_sending(); }

    void close_client(bool reset) override { client_->end(reset); }

    // request_host
    void begin_timeouts_anew() override { client_->begin_timeouts_anew(); }

    void after_event(bool moved) override { client_->after_event(moved); }

    const std::optional<decide_options>& decide() const override { return client_->decide(); }

    const base::ip_address& peer() const override { return client_->peer(); }

    bool is_secure() const override { return client_->tls() != nullptr; }

    const intake::client_tls* told_tls() const override { return client_->told_tls(); }

    base::connection_ends client_ends() const override { return client_->client_ends(); }
};

}  // namespace gateway::client
