#include "gateway/telemetry/diagnostics.hpp"

#include "gateway/telemetry/escape.hpp"
#include "gateway/telemetry/log.hpp"

#include <climits>
#include <spdlog/details/null_mutex.h>
#include <spdlog/sinks/base_sink.h>

#include <poll.h>
#include <unistd.h>

namespace gateway::telemetry {

// Writes only what a pipe takes without blocking: the pipe polls writable, and a line has at most
// PIPE_BUF bytes.
class pipe_sink : public spdlog::sinks::base_sink<spdlog::details::null_mutex> {
public:
    explicit pipe_sink(int fd) : fd_(fd) {}

    bool last_line_lost() const { return lost_; }

protected:
    void sink_it_(const spdlog::details::log_msg& msg) override
    {
        spdlog::memory_buf_t line;
        formatter_->format(msg, line);
        pollfd writable{.fd = fd_, .events = POLLOUT, .revents = 0};
        lost_ = line.size() > PIPE_BUF || ::poll(&writable, 1, 0) != 1 ||
                ::write(fd_, line.data(), line.size()) < 0;
    }

    void flush_() override {}

private:
    int fd_;
    bool lost_ = false;
};

static spdlog::level::level_enum spdlog_level(log_level level)
{
    switch (level) {
        case log_level::debug:
            return spdlog::level::debug;
        case log_level::info:
            return spdlog::level::info;
        case log_level::warning:
            return spdlog::level::warn;
        case log_level::error:
            return spdlog::level::err;
    }
    return spdlog::level::err;
}

diagnostics::diagnostics(int fd) : sink_(std::make_shared<pipe_sink>(fd)), logger_("gateway", sink_)
{
    configure({});
}

diagnostics::~diagnostics()
{
    print_suppressed();
}

void diagnostics::configure(const log_options& options)
{
    const std::lock_guard lock(mutex_);
    format_ = options.format;
    budget_.allow(options.max_lines_per_second);
    outcomes_.allow(options.max_lines_per_second);
    const char* pattern = format_ == log_format::json
                              ? R"({"time":"%Y-%m-%dT%H:%M:%S.%eZ","level":"%l","message":"%v"})"
                              : "%Y-%m-%dT%H:%M:%S.%eZ %l: %v";
    logger_.set_pattern(pattern, spdlog::pattern_time_type::utc);
    logger_.set_level(spdlog_level(options.level));
}

void diagnostics::write(log_level level, std::string_view text, base::instant now)
{
    write_within(budget_, level, text, now);
}

void diagnostics::write_outcome(log_level level, std::string_view text, base::instant now)
{
    write_within(outcomes_, level, text, now);
}

void diagnostics::report_suppressed(base::instant now)
{
    const std::lock_guard lock(mutex_);
    if (budget_.is_over(now) && outcomes_.is_over(now)) {
        print_suppressed();
    }
}

void diagnostics::write_within(
    line_budget& budget, log_level level, std::string_view text, base::instant now
)
{
    // This reads an atomic, so that a line that is not printed takes no lock.
    if (!logger_.should_log(spdlog_level(level))) {
        return;
    }
    const std::lock_guard lock(mutex_);
    if (!budget.spend(now)) {
        return;
    }
    print_suppressed();
    print(level, text);
}

void diagnostics::print(log_level level, std::string_view text)
{
    line_.clear();
    if (format_ == log_format::json) {
        append_json_text(line_, text);
    } else {
        append_line_text(line_, text);
    }
    logger_.log(spdlog_level(level), spdlog::string_view_t(line_.data(), line_.size()));
    if (sink_->last_line_lost()) {
        budget_.count_lost();
    }
}

void diagnostics::print_suppressed()
{
    if (const auto n = budget_.take_suppressed() + outcomes_.take_suppressed(); n > 0) {
        // Only errors may have been suppressed where nothing else is printed.
        const bool warns = logger_.should_log(spdlog::level::warn);
        print(
            warns ? log_level::warning : log_level::error,
            std::to_string(n) + " log lines suppressed"
        );
        if (sink_->last_line_lost()) {
            budget_.count_lost(n - 1);  // print() has counted the summary itself.
        }
    }
}

}  // namespace gateway::telemetry
