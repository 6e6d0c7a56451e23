// What stands behind log(): levels, format, rate, and a descriptor that must never block the
// caller. Any thread; a short lock per line, of which there are at most so many a second.
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
    // Writes to `fd`, which it does not own.
    explicit diagnostics(int fd);
    // Says, as the last line, how many lines were suppressed since it last said so.
    ~diagnostics();

    diagnostics(const diagnostics&) = delete;
    diagnostics& operator=(const diagnostics&) = delete;

    void configure(const log_options& options);
    void write(log_level level, std::string_view text, base::instant now);

private:
    // Guards everything below.
    std::mutex mutex_;

    std::shared_ptr<pipe_sink> sink_;
    spdlog::logger logger_;
    line_budget budget_;
    log_format format_ = log_format::json;

    // The escaped text of a line.
    std::string line_;

    void print(log_level level, std::string_view text);
    void print_suppressed();
};

}  // namespace gateway::telemetry
