// What a client connection needs while requests are on it: its session_state, where the request
// goes, the upstream connection it has leased, and what counters and log want to know of it.
//
// Lent to a session with the first byte of a request and given back when nothing is left to do, so
// an idle connection has none. Owned by its session meanwhile; one thread.
#pragma once

#include "gateway/proxy/pool.hpp"
#include "gateway/server/admitter.hpp"
#include "gateway/server/session_environment.hpp"
#include "gateway/server/session_state.hpp"

#include <memory>
#include <optional>
#include <string>

namespace gateway::server {

class session;

class conversation final : private session_port,
                           private proxy::lessee,
                           private proxy::pending_lease,
                           private verdict_listener {
public:
    explicit conversation(session_environment& env)
        : env_(env), admitter_(env.checks), state_(*this)
    {}

    ~conversation() override = default;

    // Before anything else, and again whenever it was at rest.
    void attend_to(session& client) { client_ = &client; }

    session_state& state() { return state_; }

    bool holds_other_than(const policy_view& present) const
    {
        return admitter_.holds_other_than(present);
    }

    base::duration response_timeout() const { return upstream().response_timeout; }

    // Of the present configuration until a request begins, and of the one it began with then.
    const http::options& limits() const override
    {
        return state_.in_request() && admitter_.has_view() ? admitter_.view().http
                                                           : env_.view->http;
    }

    bool upstream_blocked() const override { return upstream_ != nullptr && upstream_->sending(); }

    // Begins to wait for bytes of the upstream, if the state wants them.
    void want_upstream_bytes(bool client_blocked);

private:
    session_environment& env_;
    session* client_ = nullptr;
    admitter admitter_;
    session_state state_;
    proxy::upstream_connection* upstream_ = nullptr;
    // The server of the connection released last, until another connection is asked for.
    std::optional<std::uint8_t> last_server_;
    // Whether the connection released last had served before.
    bool last_was_reused_ = false;
    // Whether the request leased for may not be sent a second time.
    bool only_once_ = false;

    proxy::failure lease_failure_ = proxy::failure::connect;
    // When the request began.
    base::instant began_{};
    // When a part of the request was last sent upstream.
    base::instant last_sent_upstream_{};
    // Index of the request method's metrics label.
    std::size_t method_ = 0;

    // What became of the request upstream, for the log.
    struct sending {
        std::uint32_t attempts = 0;
        // Index of the server of the last attempt.
        std::uint8_t server = 0;
        // Time from the request sent to the response's head read; negative: there was none.
        base::duration took{-1};
    };

    sending sending_;

    // Text of the request for the log; kept only when there is a log to write.
    struct log_fields {
        std::string method;
        std::string host;
        std::string target;
        std::string request_id;
    };

    std::unique_ptr<log_fields> log_;

    void take(proxy::upstream_connection& c);
    void count_request(int status);

    // Counts a response of the upstream.
    void count_response(int status);

    void note_untrusted_forwarding(const http::request_head& head);
    void log_request(const finished& f);

    // lessee
    void upstream_readable() override;
    void upstream_held_back() override;
    void upstream_drained() override;
    void upstream_broken() override;
    // pending_lease
    void leased(proxy::upstream_connection& c) override;
    void lease_failed(proxy::failure why) override;
    // verdict_listener
    void decided(const verdict& v) override;
    // session_port
    admission admit(const http::request_head& head) override;

    http::forward_options forwarding() const override { return admitter_.forwarding(); }

    http::limit_statement limits_said() const override { return admitter_.limits_said(); }

    std::string_view date_line() const override { return env_.date.text(); }

    void send_client(std::string_view a, std::string_view b) override;
    bool client_blocked() const override;

    std::string& scratch() override { return env_.loop.scratch(); }

    http::request_head& request_head_storage() override { return env_.request_head; }

    void end_sending_upstream() override { upstream_->finish_sending(); }

    void tunnel_begins() override;
    void tunnel_carries(proxy::tunnel_side from, std::size_t bytes) override;
    void request_begins() override;
    void request_ends(const finished& f) override;
    void end_sending() override;
    void close_client(bool reset) override;
    // exchange_port
    lease_result lease(bool fresh) override;

    bool another_lease_may_help() const override
    {
        return upstream_->reused() || admitter_.pool().has_several_servers();
    }

    proxy::failure lease_failure() const override { return lease_failure_; }

    void send_upstream(std::string_view a, std::string_view b) override;
    void release(parting how) override;

    const proxy::upstream_options& upstream() const override { return admitter_.pool().options(); }

    http::response_head& response_head_storage() override { return env_.response_head; }

    void interim_response(const http::response_head& head) override
    {
        state_.interim_response(head);
    }

    void response(const http::response_head& head) override;

    void response_content(std::string_view content) override { state_.response_content(content); }

    void response_end() override { state_.response_end(); }

    void switched(const http::response_head& head, std::string_view rest) override;

    void exchange_failed(proxy::failure why, bool begun) override;
};

}  // namespace gateway::server
