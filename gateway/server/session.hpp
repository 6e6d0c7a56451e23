// A client connection: the shell that carries bytes, deadlines and decisions to and from its
// session_state. Owned by its worker's session list; one thread.
#pragma once

#include "gateway/base/timer_wheel.hpp"
#include "gateway/http/date_line.hpp"
#include "gateway/net/connection.hpp"
#include "gateway/proxy/pool.hpp"
#include "gateway/server/admitter.hpp"
#include "gateway/server/session_state.hpp"
#include "gateway/telemetry/access_log.hpp"

#include <list>
#include <memory>
#include <optional>

namespace gateway::server {

class session;

// What a session needs of its worker.
struct session_environment {
    net::loop& loop;
    check_pool& checks;
    telemetry::worker_metrics& metrics;
    telemetry::access_log& access_log;
    bool& access_log_enabled;
    std::shared_ptr<const policy_view>& view;  // the present one
    http::request_head& request_head;
    http::response_head& response_head;
    const http::date_line& date;
    std::function<void(session&)> ended;  // may destroy it
};

class session final : public net::connection,
                      private base::timer_entry,
                      private session_port,
                      private proxy::lessee,
                      private proxy::pending_lease,
                      private verdict_listener {
public:
    static constexpr base::duration drain_grace =
        std::chrono::milliseconds{500};  // for a request on its way

    session(session_environment& env, int fd, const base::ip_address& peer);
    ~session() override = default;

    void start();
    void drain();  // finish what runs, then end
    void abort();  // end now

    std::list<session>::iterator self;           // in its worker's list
    std::optional<base::ip_address> counted_as;  // in its worker's count of peers; nothing: not

private:
    enum class deadline : std::uint8_t { none, idle, head, body, response, tunnel, linger };

    session_environment& env_;
    admitter admitter_;
    session_state state_;
    proxy::upstream_connection* upstream_ = nullptr;
    // Of the connection released last: its server, until another is asked for; whether it had
    // served before.
    std::optional<std::uint8_t> last_server_;
    bool last_was_reused_ = false;
    base::instant began_{};          // the request
    base::instant sent_upstream_{};  // its head
    std::size_t method_ = 0;         // index of its metrics label
    deadline armed_ = deadline::none;
    bool counted_active_ = false;
    bool draining_ = false;
    bool end_after_sending_ = false;  // close once what is kept has gone
    proxy::failure lease_failure_ = proxy::failure::connect;

    struct log_fields {  // kept only when there is a log to write
        std::string method;
        std::string host;
        std::string target;
    };

    std::unique_ptr<log_fields> log_;

    void after_event();  // at the end of each: what to wait for, and until when
    deadline wanted_deadline() const;
    base::duration length_of(deadline d) const;
    void count_active(bool active);
    void count_request(int status);
    void count_response(int status);  // of the upstream
    void log_request(const finished& f);

    // net::connection
    void readable() override;
    void progressed() override;
    void drained() override;
    void broken() override;
    void released() override;
    // timer_entry
    void expired(base::instant now) override;
    // lessee
    void upstream_readable() override;
    void upstream_drained() override;
    void upstream_broken() override;
    // pending_lease
    void leased(proxy::upstream_connection& c) override;
    void lease_failed(proxy::failure why) override;
    // verdict_listener
    void decided(const verdict& v) override;
    // session_port
    admission admit(const http::request_head& head) override;

    std::string_view limit_lines() const override { return admitter_.limit_lines(); }

    std::span<const std::string_view> violated_limits() const override
    {
        return admitter_.violated();
    }

    std::string_view date_line() const override { return env_.date.text(); }

    void send_client(std::string_view a, std::string_view b) override;

    bool client_blocked() const override { return sending(); }

    std::string& scratch() override { return env_.loop.scratch(); }

    http::request_head& request_head_storage() override { return env_.request_head; }

    const http::options& limits() const override { return admitter_.view().http; }

    bool upstream_blocked() const override { return upstream_ != nullptr && upstream_->sending(); }

    void end_sending_upstream() override { upstream_->finish_sending(); }

    void tunnel_begins() override;
    void tunnel_carries(proxy::tunnel_side from, std::size_t bytes) override;
    void request_begins() override;
    void request_ends(const finished& f) override;

    void end_sending() override { finish_sending(); }

    void close_client(bool reset) override;
    // exchange_port
    lease_result lease(bool fresh) override;

    bool another_lease_may_help() const override
    {
        return upstream_->reused() || admitter_.pool().has_several_servers();
    }

    proxy::failure lease_failure() const override { return lease_failure_; }

    void send_upstream(std::string_view a, std::string_view b) override;
    void release(bool reusable) override;

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
