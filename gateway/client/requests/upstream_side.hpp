// `upstream_side` is the upstream's side of a request: a carrier leased from the pool of its route,
// what is sent and received there, and what each attempt tells of the server's health. It is
// the shell of an exchange_state.
//
// Ownership: a request, which alone uses it.
// Thread: one thread only.
#pragma once

#include "gateway/client/requests/request_host.hpp"
#include "gateway/client/requests/request_state.hpp"
#include "gateway/client/session_environment.hpp"
#include "gateway/limits/request_record.hpp"
#include "gateway/proxy/pool/pool.hpp"

#include <optional>

namespace gateway::client {

class upstream_side final : public proxy::exchange_port,
                            private proxy::lessee,
                            private proxy::pending_lease {
public:
    // `record` knows the request's route, and gets its attempts. `request` gets each event.
    // Ownership: all arguments outlive this object.
    upstream_side(session_environment& env, limits::request_record& record, request_state& request)
        : env_(env), record_(record), request_(request)
    {}

    ~upstream_side() override = default;

    // Sets the connection of the request, which gets each event, too.
    void attend_to(request_host& host) { host_ = &host; }

    // Begins to wait for bytes from the upstream, if the request wants them.
    void want_bytes();

    // Returns the moment at which something was last sent to the server, or nothing if no
    // carrier is leased.
    std::optional<base::instant> asked_at() const
    {
        return carrier_ != nullptr ? std::optional{record_.attempts.last().sent} : std::nullopt;
    }

    // Requires: lease() has been called.
    base::duration response_timeout() const
    {
        return record_.route->bounds.response_timeout.value_or(upstream().response_timeout);
    }

    bool upstream_blocked() const override { return carrier_ != nullptr && carrier_->is_blocked(); }

    // Returns the general options before the first request.
    const http::options& limits() const override
    {
        return record_.view != nullptr ? record_.http() : env_.view->http;
    }

    const proxy::upstream_options& upstream() const override { return pool_->options(); }

private:
    session_environment& env_;
    limits::request_record& record_;
    request_state& request_;
    request_host* host_ = nullptr;

    // Pool of the request's route, from its first lease on.
    proxy::pool* pool_ = nullptr;
    proxy::upstream_carrier* carrier_ = nullptr;
    // Server of the carrier released last, until another one is asked for.
    std::optional<std::uint8_t> last_server_;
    // True if the connection of the carrier released last had served before: then its loss says
    // nothing about the server.
    bool last_was_reused_ = false;
    // True if the server of the carrier released last has refused the request.
    bool last_has_refused_ = false;
    // True if the request may not be sent a second time.
    bool only_once_ = false;

    proxy::failure lease_failure_ = proxy::failure::connect;
    // Moment at which a carrier was last asked for.
    base::instant asked_{};

    void take(proxy::upstream_carrier& c);
    // Detaches the carrier, which the caller gives back to the pool.
    proxy::upstream_carrier& detach_carrier();

    void note_sent() { record_.attempts.last().sent = env_.loop.now(); }

    void lose(net::received how);
    void note_failure(proxy::failure why);
    void hide_settlements(http::response_head& head) const;

    // exchange_port
    lease_progress lease(bool fresh) override;
    bool another_lease_may_help() const override;

    proxy::failure lease_failure() const override { return lease_failure_; }

    void begin_retry(std::string& head) override;

    void send_head(std::string_view head, const http::framing& body) override;

    void send_content(std::string_view content, bool last, std::string_view trailers) override
    {
        note_sent();
        carrier_->send_content(content, last, trailers);
    }

    void send_bytes(std::string_view bytes) override
    {
        note_sent();
        carrier_->send_bytes(bytes);
    }

    bool hides_from_upstream(std::string_view name) const override;
    bool hides_from_client(std::string_view name) const override;

    void end_sending_upstream() override { carrier_->end_sending(); }

    void release(disposition how) override;
    bool finishes_without_client() const override;
    void abandon(proxy::answer_state&& answer, proxy::abandon_until until) override;
    void responded(http::response_head& head) override;

    bool reads_content() const override { return record_.usage != nullptr; }

    void content_came(std::string_view content) override { record_.usage->read(content); }

    void interim_responded(http::response_head& head) override { hide_settlements(head); }

    void failed(proxy::failure why, bool begun) override;

    http::response_head& response_head_storage() override { return env_.scratch.response; }

    // lessee
    void upstream_readable() override;
    void upstream_backlog_changed() override;
    void upstream_drained() override;
    void upstream_broken() override;
    // pending_lease
    void leased(proxy::upstream_carrier& c) override;
    void lease_failed(proxy::failure why) override;
};

}  // namespace gateway::client
