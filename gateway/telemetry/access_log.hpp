// `access_log` writes one line per request. Workers append to a buffer of their own, and one thread
// writes. A stalled reader can never stall a worker: lines past max_backlog_bytes are dropped and
// counted.
#pragma once

#include "gateway/base/clock.hpp"
#include "gateway/base/ip_address.hpp"
#include "gateway/telemetry/log_output.hpp"
#include "gateway/telemetry/options.hpp"
#include "gateway/telemetry/second_text.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace gateway::telemetry {

// `limit_cost` says how many tokens a request costs under a limit.
struct limit_cost {
    std::string_view limit;
    std::int64_t tokens = 0;
    // True if requests cost different numbers of tokens under the limit.
    bool varies = false;
};

// `field_value` is a value that the operator wants in the log, by its name there.
struct field_value {
    std::string_view name;
    std::string value;
};

// `access_record` is what is logged of one request. The views need to live only during the call.
struct access_record {
    base::ip_address client;
    base::ip_address peer;
    std::string_view method;
    std::string_view host;

    // The request's target. Values of its query are not logged, as they may be secrets.
    std::string_view target;

    std::string_view route;
    std::string_view upstream;

    // The limit that decided.
    std::string_view limit;
    // The outcome of that limit: allowed, rejected, failed_open, ... Empty without limits.
    std::string_view outcome;
    // The client's plans under the limits of the route. Names separated by commas.
    std::string_view plans;
    // The bucket of that limit, as in the store's key. Empty if the limit allowed the request.
    std::string_view bucket;
    // Moment at which the limits decided; nothing without limits.
    std::optional<base::instant> decided{};
    // Costs under all limits that decided, that of the limit that refused the request first.
    std::span<const limit_cost> costs{};
    // Values of the fields that the operator has chosen.
    std::span<const field_value> fields{};
    // Limits in shadow mode that would have rejected. Names separated by commas.
    std::string_view shadow_rejected;
    std::string_view request_id;
    // The server to which the request was sent last.
    std::string_view server;
    // Time until the head of its response. Negative: there was none.
    base::duration upstream_time{-1};
    std::uint32_t attempts = 0;
    int status = 0;
    // Number of the outcome of a call of gRPC; nothing: it was none.
    std::optional<std::size_t> grpc_status{};

    // Bytes of the request's body.
    std::uint64_t request_bytes = 0;
    // Bytes of the response's body.
    std::uint64_t response_bytes = 0;

    base::duration duration{0};

    // The reason why the gateway answered itself, if it did.
    std::string_view error;
};

// The thread that writes.
class access_log_writer;

// A worker's end of the log.
// Thread: the worker's.
class access_log {
public:
    explicit access_log(access_log_writer& writer);

    ~access_log() { flush(); }

    access_log(const access_log&) = delete;
    access_log& operator=(const access_log&) = delete;

    void write(const access_record& record);

    // Returns what access_log_writer::to_unix() does.
    base::duration to_unix() const { return to_unix_; }

    // Hands the gathered lines to the writer.
    // Requires: called on each tick.
    void flush();

private:
    static constexpr std::size_t flush_bytes = std::size_t{32} * 1024;
    // Lines have about 300 bytes. A rare one with a long target may grow the buffer.
    static constexpr std::size_t line_room = std::size_t{4} * 1024;

    access_log_writer& writer_;
    const base::duration to_unix_;
    std::string buffer_;
    second_text time_;

    void append_json(const access_record& record, std::string_view path);
    void append_text(const access_record& record, std::string_view path);
};

class access_log_writer {
public:
    // Starts the thread.
    access_log_writer(std::unique_ptr<log_output> output, const log_options& options);
    // Writes what is left, then joins the thread. Waits flush_timeout at most without progress.
    ~access_log_writer();

    access_log_writer(const access_log_writer&) = delete;
    access_log_writer& operator=(const access_log_writer&) = delete;

    bool enabled() const;

    // Thread: any.
    void configure(const log_options& options);
    // Opens the target, again if it is the present one, and writes to it from now on. A line that
    // the output before has in part is lost. If the target cannot be opened, logs why, and the
    // output stays.
    // Thread: any.
    void write_to(const log_target& target);
    // Takes the lines and never blocks on the reader.
    // Thread: any.
    void submit(std::string lines);
    // Returns the number of lines lost because the reader was too slow or a write failed.
    std::uint64_t dropped_lines() const;

    log_format format() const;

    // Returns what is added to a moment to make it Unix time. It stays the same as long as the
    // process lives, so that lines differ by the time between their decisions.
    base::duration to_unix() const;

private:
    struct state;
    std::unique_ptr<state> state_;
};

}  // namespace gateway::telemetry
