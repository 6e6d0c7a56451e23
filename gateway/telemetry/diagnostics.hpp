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
    explicit diagnostics(int fd);  // does not own it
    ~diagnostics();                // says how many lines were suppressed last
    diagnostics(const diagnostics&) = delete;
    diagnostics& operator=(const diagnostics&) = delete;

    void configure(const log_options& options);
    void write(log_level level, std::string_view text, base::instant now);

private:
    std::mutex mutex_;  // over everything below
    std::shared_ptr<pipe_sink> sink_;
    spdlog::logger logger_;
    line_budget budget_;
    log_format format_ = log_format::json;
    std::string line_;  // escaped

    void print(log_level level, std::string_view text);
    void print_suppressed();
};

}  // namespace gateway::telemetry
