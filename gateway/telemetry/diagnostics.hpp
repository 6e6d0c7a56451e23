// `diagnostics` implements log(): levels, format, rate, and a descriptor that must never block the
// caller. Takes a short lock per line, and the number of lines a second is bounded.
// Thread: any.
#pragma once

#include "gateway/base/clock.hpp"
#include "gateway/telemetry/line_budget.hpp"
#include "gateway/telemetry/options.hpp"

#include <spdlog/logger.h>

#include <memory>
#include <mutex>
#include <string>
#include <string_view>

namespace gateway::telemetry {

class pipe_sink;

class diagnostics {
public:
    // Writes to `fd`.
    // Ownership: does not own `fd`.
    explicit diagnostics(int fd);
    // Reports the lines that were suppressed and not reported yet, if there are any.
    ~diagnostics();

    diagnostics(const diagnostics&) = delete;
    diagnostics& operator=(const diagnostics&) = delete;

    void configure(const log_options& options);
    void write(log_level level, std::string_view text, base::instant now);
    // Writes a line that has a rate of its own, of as many lines.
    void write_outcome(log_level level, std::string_view text, base::instant now);
    // Reports the lines that were suppressed in a second that is over, if there are any.
    void report_suppressed(base::instant now);

private:
    // Guards all members below.
    std::mutex mutex_;

    std::shared_ptr<pipe_sink> sink_;
    spdlog::logger logger_;
    line_budget budget_;
    line_budget outcomes_;
    log_format format_ = log_format::json;

    // The escaped text of a line.
    std::string line_;

    void write_within(
        line_budget& budget, log_level level, std::string_view text, base::instant now
    );
    void print(log_level level, std::string_view text);
    void print_suppressed();
};

}  // namespace gateway::telemetry
