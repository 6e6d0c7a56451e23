// An http1_state and the request_state it carries, with a shell that does nothing but remember,
// answer as it was told, and watch that the machines keep to their contracts. For scripts of
// events, and for the fuzzer.
#pragma once

#include "gateway/client/http1/http1_state.hpp"
#include "tests/unit/proxy/framed_text.hpp"

#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace gateway::client::testing {

enum class lease_plan { fresh, reused, pending, failed };

struct recorded_lease {
    std::string sent;  // to this connection
    bool fresh_asked = false;
    bool released = false;
    bool kept = false;                          // released for another use
    bool shut = false;                          // the end was sent to it
    std::size_t tunnel_at = std::string::npos;  // what was sent from there on is a tunnel's
};

struct recorded_end {
    int status;
    std::uint64_t request_bytes;
    std::uint64_t response_bytes;
    std::string error;
};

class recording_port final : public http1_port, public request_port, public proxy::exchange_port {
public:
    http1_state http1{http1_memory{out_, request_head_, date_}};
    request_state request{*this, *this, http1};

    recording_port()
    {
        http1.carry(request);
        http1.attend_to(*this);
    }

    // What it is to say.
    http::options http_limits;
    proxy::upstream_options upstream_options;
    std::function<limits::admission(const http::request_head&)> decide;  // none: forward
    std::vector<lease_plan> plans;  // of the leases to come; then `usual_plan`
    lease_plan usual_plan = lease_plan::fresh;
    proxy::failure lease_error = proxy::failure::connect;
    bool blocked = false;
    bool upstream_is_blocked = false;
    bool block_when_sent = false;  // whatever is sent to the client blocks
    bool finishes_without_client_too = false;
    bool grpc = false;  // the client's requests are
    limit::limit nine = limit::limit::make(1, std::chrono::seconds{1}, 9).value();
    std::vector<http::limit_report> reports;   // of limits
    const http::field_edits* edits = nullptr;  // of responses
    std::string_view hidden = "X-Hidden";      // trailer, both ways

    // What it saw.
    std::string to_client;
    std::vector<recorded_lease> leases;
    std::vector<std::string> targets;  // admitted
    std::vector<bool> begun_is_head;   // requests, in order
    std::vector<recorded_end> ends;
    std::size_t begins = 0;
    int lease_calls = 0;
    bool lease_pending = false;
    std::size_t tunnel_at = std::string::npos;  // to_client from there on is a tunnel's
    std::uint64_t carried_from_client = 0;
    std::uint64_t carried_from_upstream = 0;
    bool shut = false;
    bool closed = false;
    bool was_reset = false;
    std::string broken;  // the first promise that was not kept

    bool has_connection() const { return connected_; }

    std::string& upstream() { return leases.back().sent; }

    bool has_tunnel() const { return tunnel_at != std::string::npos; }

    bool request_open() const { return begins != ends.size(); }

    bool admission_pending() const { return request.at() == request_state::phase::admitting; }

    // Events. Each gives the machine memory that is gone afterwards.
    void client(std::string_view bytes)
    {
        with_copy(bytes, [this](std::span<char> copy) { http1.client_bytes(copy); });
    }

    void server(std::string_view bytes)
    {
        with_copy(bytes, [this](std::span<char> copy) { request.upstream_bytes(copy); });
    }

    void server_closes(bool orderly = true)
    {
        request.upstream_closed(orderly);
        check();
    }

    void client_leaves(bool orderly = true)
    {
        http1.client_closed(orderly);
        check();
    }

    // Both sides of a tunnel, if there is one: a client that leaves ends only its own side, and
    // what was sent must have gone.
    void everybody_leaves()
    {
        blocked = false;
        client_leaves();
        if (!closed) {
            server_closes();
        }
        if (!closed) {
            unblock_upstream();
        }
    }

    void abort()
    {
        http1.abort();
        check();
    }

    void expire()
    {
        http1.expired();
        check();
    }

    void lease_comes()
    {
        lease_pending = false;
        connected_ = true;
        leases.push_back({.sent = {}, .fresh_asked = fresh_asked_});
        reused_ = false;
        request.leased();
        check();
    }

    void lease_breaks(proxy::failure why)
    {
        lease_pending = false;
        request.lease_failed(why);
        check();
    }

    void answer_admission(const limits::admission& a)
    {
        request.admitted(a);
        check();
    }

    void unblock()
    {
        blocked = false;
        http1.client_drained();
        check();
    }

    void unblock_upstream()
    {
        upstream_is_blocked = false;
        request.drained();
        check();
    }

    void drain()
    {
        http1.drain();
        check();
    }

    // At the end of every event.
    void check()
    {
        http1.settle();
        promise(out_.empty(), "the scratch memory is left empty");
        promise(
            !closed || (!connected_ && !lease_pending), "a closed connection holds no connection"
        );
        promise(!closed || !request_open(), "a closed connection has no open request");
        promise(closed == (http1.at() == http1_state::phase::closed), "closed is closed");
        promise(begins - ends.size() <= 1, "one request at a time");
        promise(
            !has_tunnel() ||
                (to_client.size() == tunnel_at + carried_from_upstream &&
                 leases.back().sent.size() == leases.back().tunnel_at + carried_from_client),
            "a tunnel carries what it says, and nothing else comes of it"
        );
    }

    // http1_port, request_port
    limits::admission admit(const http::request_head& head) override
    {
        promise(request_open(), "admitted within a request");
        begun_is_head.back() = head.is_head();
        targets.emplace_back(head.target);
        return decide ? decide(head) : limits::admission{};
    }

    std::optional<http::forward_options> forwarding_over_limit(const http::request_head&) override
    {
        return std::nullopt;
    }

    http::forward_options forwarding(const http::request_head&) override
    {
        return {.default_host = "default.test"};
    }

    http::added_fields added_fields() const override
    {
        return {.limits = {.reports = reports}, .edits = edits};
    }

    bool is_grpc() const override { return grpc; }

    void send_client(std::string_view a, std::string_view b) override
    {
        promise(!closed && !shut, "nothing is sent after the end");
        promise(!a.empty() || !b.empty(), "nothing is not sent");
        to_client.append(a).append(b);
        blocked = blocked || block_when_sent;
    }

    bool client_blocked() const override { return blocked; }

    bool upstream_blocked() const override { return upstream_is_blocked; }

    const http::options& limits() const override { return http_limits; }

    // No request is read ahead.
    content_reading read(std::string_view, bool, std::string_view) override
    {
        promise(false, "content is read that nobody has asked for");
        return content_reading::more;
    }

    limits::admission admit_by_content() override { return {}; }

    request_ahead ahead() const override { return {.head = request_head_, .content = {}}; }

    void ahead_sent() override { promise(false, "nothing was read ahead"); }

    bool read_on(std::string_view, bool) override
    {
        promise(false, "nothing was read ahead");
        return false;
    }

    void request_begins(bool) override
    {
        promise(!request_open() && !closed && !shut, "requests begin one after another");
        ++begins;
        begun_is_head.push_back(false);
    }

    void request_ends(const limits::finished& f) override
    {
        promise(request_open(), "what ends has begun");
        ends.push_back({f.status, f.request_bytes, f.response_bytes, std::string(f.error)});
    }

    void end_sending() override
    {
        promise(!closed && !shut, "the end is sent once");
        shut = true;
    }

    void end_sending_upstream() override
    {
        promise(connected_ && !leases.back().shut, "the end is sent once, to a connection it has");
        leases.back().shut = true;
    }

    void tunnel_begins() override
    {
        promise(connected_ && request_open() && !has_tunnel(), "one tunnel, of one request");
        tunnel_at = to_client.size();
        leases.back().tunnel_at = leases.back().sent.size();
    }

    void tunnel_carries(proxy::tunnel_side from, std::size_t bytes) override
    {
        promise(has_tunnel(), "what is carried has a tunnel");
        (from == proxy::tunnel_side::client ? carried_from_client : carried_from_upstream) += bytes;
    }

    void close_client(bool reset) override
    {
        promise(!closed, "it is closed once");
        closed = true;
        was_reset = reset;
    }

    // exchange_port
    lease_progress lease(bool fresh) override
    {
        promise(!connected_ && !lease_pending && request_open(), "one connection at a time");
        ++lease_calls;
        fresh_asked_ = fresh;
        const lease_plan plan = next_plan();
        if (plan == lease_plan::pending) {
            lease_pending = true;
            return lease_progress::pending;
        }
        if (plan == lease_plan::failed) {
            return lease_progress::failed;
        }
        connected_ = true;
        reused_ = plan == lease_plan::reused && !fresh;
        leases.push_back({.sent = {}, .fresh_asked = fresh});
        return lease_progress::ready;
    }

    bool another_lease_may_help() const override { return reused_; }

    proxy::failure lease_failure() const override { return lease_error; }

    void begin_retry(std::string&) override {}

    void send_head(std::string_view head, const http::framing& body) override
    {
        if (may_send_upstream(!head.empty())) {
            framed_.head(head, body, leases.back().sent);
        }
    }

    void send_content(std::string_view content, bool last, std::string_view trailers) override
    {
        if (may_send_upstream(!content.empty() || last)) {
            framed_.content(content, last, trailers, leases.back().sent);
        }
    }

    void send_bytes(std::string_view bytes) override
    {
        if (may_send_upstream(!bytes.empty())) {
            leases.back().sent.append(bytes);
        }
    }

    bool hides_from_upstream(std::string_view name) const override { return name == hidden; }

    bool hides_from_client(std::string_view name) const override { return name == hidden; }

    void release(disposition how) override
    {
        promise(connected_ || how == disposition::close, "what is given back was lent");
        if (connected_) {
            leases.back().released = true;
            leases.back().kept = how == disposition::keep;
        }
        connected_ = false;
        lease_pending = false;
    }

    bool finishes_without_client() const override { return finishes_without_client_too; }

    void abandon(proxy::answer_state&&, proxy::abandon_until) override
    {
        promise(connected_, "a connection is abandoned that it has");
        release(disposition::close);
    }

    http::response_head& response_head_storage() override { return response_head_; }

    const proxy::upstream_options& upstream() const override { return upstream_options; }

    void interim_responded(http::response_head&) override {}

    void responded(http::response_head& head) override
    {
        promise(connected_ && head.status >= 101, "what responds was leased");
    }

    void failed(proxy::failure, bool) override
    {
        promise(!connected_, "what has failed was given back");
    }

private:
    bool connected_ = false;
    bool reused_ = false;
    bool fresh_asked_ = false;
    std::size_t planned_ = 0;
    std::string out_;
    http::request_head request_head_;
    http::http_date date_{base::duration{0}};
    http::response_head response_head_;
    proxy::testing::framed_text framed_;

    // True if there is a connection to send to. `anything`: what is sent is not empty.
    bool may_send_upstream(bool anything)
    {
        promise(connected_, "sent to a connection it has");
        promise(!connected_ || !leases.back().shut, "nothing is sent upstream after the end");
        promise(anything, "nothing is not sent upstream");
        return connected_;
    }

    lease_plan next_plan() { return planned_ < plans.size() ? plans[planned_++] : usual_plan; }

    void promise(bool kept, const char* what)
    {
        if (!kept && broken.empty()) {
            broken = what;
        }
    }

    template <typename Event>
    void with_copy(std::string_view bytes, Event event)
    {
        const auto copy = std::make_unique<char[]>(bytes.size());
        std::memcpy(copy.get(), bytes.data(), bytes.size());
        event(std::span<char>(copy.get(), bytes.size()));
        check();
    }
};

}  // namespace gateway::client::testing
