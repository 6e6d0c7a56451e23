// One line per request on stdout. Workers append to a buffer of their own; one thread writes.
// A reader that stalls can never stall a worker: past max_backlog_bytes lines are dropped and
// counted.
#pragma once

#include "gateway/base/clock.hpp"
#include "gateway/base/ip_address.hpp"
#include "gateway/telemetry/options.hpp"
#include "gateway/telemetry/second_text.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace gateway::telemetry {

// What is logged of one request. The views need only live during the call.
struct access_record {
    base::ip_address client;
    base::ip_address peer;
    std::string_view method;
    std::string_view host;

    // The request's target. Values of its query are not logged: they may be secrets.
    std::string_view target;

    std::string_view route;
    std::string_view upstream;

    // The limit that decided.
    std::string_view limit;
    // What it decided: allowed, rejected, failed_open, ...; empty without limits.
    std::string_view outcome;
    // The client's plans under the limits of the route: names separated by commas.
    std::string_view plans;
    // Of that limit, as in the store's key; empty if it allowed the request.
    std::string_view bucket;
    // Names separated by commas.
    std::string_view shadow_rejected;
    std::string_view request_id;
    // The one that was sent the request last.
    std::string_view server;
    // To its response's head; negative: there was none.
    base::duration upstream_time{-1};
    std::uint32_t attempts = 0;
    int status = 0;

    // The bytes of the request's body.
    std::uint64_t request_bytes = 0;
    // The bytes of the response's body.
    std::uint64_t response_bytes = 0;

    base::duration duration{0};

    // Why the gateway answered itself, if it did.
    std::string_view error;
};

// The thread that writes.
class access_log_writer;

// A worker's end. Not thread-safe: one per worker.
class access_log {
public:
    explicit access_log(access_log_writer& writer) : writer_(writer) {}

    ~access_log() { flush(); }

    access_log(const access_log&) = delete;
    access_log& operator=(const access_log&) = delete;

    void write(const access_record& record);
    // Hands over what has gathered; called from each tick.
    void flush();

private:
    static constexpr std::size_t flush_bytes = std::size_t{32} * 1024;
    // Lines are about 300 bytes; a rare one with long targets may grow the buffer.
    static constexpr std::size_t line_room = std::size_t{4} * 1024;

    access_log_writer& writer_;
    std::string buffer_;
    second_text time_;

    void append_json(const access_record& record, std::string_view path);
    void append_text(const access_record& record, std::string_view path);
};

class access_log_writer {
public:
    // Starts the thread; does not own `fd`.
    access_log_writer(int fd, log_options options);
    // Writes what is left, for flush_timeout at most without progress, then joins the thread.
    ~access_log_writer();

    access_log_writer(const access_log_writer&) = delete;
    access_log_writer& operator=(const access_log_writer&) = delete;

    bool enabled() const;

    // May be called from any thread.
    void configure(const log_options& options);
    // May be called from any thread; never blocks on the reader.
    void submit(std::string lines);
    // Lines lost because the reader was too slow or a write failed.
    std::uint64_t dropped_lines() const;

    log_format format() const;

private:
    struct state;
    std::unique_ptr<state> state_;
};

}  // namespace gateway::telemetry
