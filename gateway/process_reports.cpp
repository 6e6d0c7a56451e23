#include "gateway/process_reports.hpp"

#include "gateway/telemetry/log.hpp"

#include <algorithm>
#include <sstream>
#include <utility>

namespace gateway {

void process_reports::keep(bool succeeded, std::vector<std::string> said)
{
    said.resize(std::min(said.size(), admin::reload_report::most_lines));
    last_ = {base::unix_time(), succeeded, std::move(said)};
}

void process_reports::note_start(std::vector<std::string> warnings)
{
    keep(true, std::move(warnings));
}

void process_reports::note_success(std::vector<std::string> warnings)
{
    metrics_.count_reload(true);
    keep(true, std::move(warnings));
}

void process_reports::note_refusal(const std::string& problems)
{
    using telemetry::log_level;
    metrics_.count_reload(false);
    std::vector<std::string> said{"reload refused, the old configuration stays in force"};
    std::istringstream lines(problems);
    for (std::string line; std::getline(lines, line);) {
        said.push_back(std::move(line));
    }
    for (const std::string& line : said) {
        telemetry::log(log_level::error, line);
    }
    keep(false, std::move(said));
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
