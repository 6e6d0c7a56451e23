#include "gateway/process_reports.hpp"

#include "gateway/telemetry/log.hpp"

#include <algorithm>
#include <sstream>
#include <utility>

namespace gateway {

// Time between looks for lines that were suppressed.
constexpr base::duration look_interval = std::chrono::milliseconds{500};

process_reports::process_reports(
    const net::executor& executor,
    telemetry::registry& metrics,
    const store::memory_store& local,
    const telemetry::access_log_writer& log
)
    : metrics_(metrics),
      local_(local),
      log_(log),
      next_look_(executor, [this] { look_for_suppressed_lines(); })
{
    next_look_.set(look_interval);
}

void process_reports::look_for_suppressed_lines()
{
    telemetry::report_suppressed_lines();
    next_look_.set(look_interval);
}

void process_reports::keep(bool succeeded, std::vector<std::string> lines)
{
    lines.resize(std::min(lines.size(), admin::reload_report::most_lines));
    last_ = {base::unix_time(), succeeded, std::move(lines)};
}

void process_reports::note_start(std::vector<std::string> warnings)
{
    keep(true, std::move(warnings));
}

void process_reports::note_success(
    const std::string& config_path, std::vector<std::string> warnings
)
{
    metrics_.count_reload(true);
    for (const std::string& warning : warnings) {
        telemetry::log(telemetry::log_level::warning, warning);
    }
    telemetry::log_outcome(telemetry::log_level::info, "reloaded " + config_path);
    keep(true, std::move(warnings));
}

void process_reports::note_refusal(const std::string& problems)
{
    using telemetry::log_level;
    metrics_.count_reload(false);
    std::vector<std::string> lines{"reload refused, the old configuration stays in force"};
    std::istringstream text(problems);
    for (std::string line; std::getline(text, line);) {
        lines.push_back(std::move(line));
    }
    telemetry::log_outcome(log_level::error, lines.front());
    for (std::size_t i = 1; i < lines.size(); ++i) {
        telemetry::log(log_level::error, lines[i]);
    }
    keep(false, std::move(lines));
}

admin::process_report process_reports::report(
    const config::settings& settings, const plan_watch& plans, const present& now
) const
{
    admin::process_report r{
        .version = GATEWAY_VERSION,
        .draining = now.draining,
        .workers = now.workers,
        .max_connections = now.max_connections,
        .buckets = local_.size(),
        .max_buckets = settings.local_store.max_buckets,
        .turned_away = local_.turned_away(),
        .dropped_lines = log_.dropped_lines(),
        .reload = last_,
    };
    for (const telemetry::plan_figures& p : plans.figures()) {
        if (p.has_file && !p.file_in_force) {
            r.plans_refused.push_back(p.name);
        }
    }
    return r;
}

}  // namespace gateway
