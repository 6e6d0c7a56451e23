// `process_reports` collects what the page of the admin API shows of the process as a whole, and
// keeps the lines of the last reload. It also reports how many lines of diagnostics were
// suppressed.
// Thread: the main thread.
#pragma once

#include "config/settings.hpp"
#include "gateway/admin/admin_sources.hpp"
#include "gateway/net/alarm.hpp"
#include "gateway/plan_watch.hpp"
#include "gateway/store/memory/memory_store.hpp"
#include "gateway/telemetry/access_log.hpp"
#include "gateway/telemetry/registry.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace gateway {

class process_reports {
public:
    // Ownership: all arguments outlive this object.
    process_reports(
        const net::executor& executor,
        telemetry::registry& metrics,
        const store::memory_store& local,
        const telemetry::access_log_writer& log
    );

    // Notes the start, with the warnings about the configuration.
    void note_start(std::vector<std::string> warnings);

    // Counts and logs a reload of this file, and keeps its lines.
    void note_success(const std::string& config_path, std::vector<std::string> warnings);

    // Counts and logs a reload that was refused for these problems, a line each.
    void note_refusal(const std::string& problems);

    // State that is not known here.
    struct present {
        bool draining = false;
        std::size_t workers = 0;
        std::size_t max_connections = 0;
    };

    admin::process_report report(
        const config::settings& settings, const plan_watch& plans, const present& now
    ) const;

private:
    telemetry::registry& metrics_;
    const store::memory_store& local_;
    const telemetry::access_log_writer& log_;
    admin::reload_report last_{};
    net::alarm next_look_;

    void look_for_suppressed_lines();
    void keep(bool succeeded, std::vector<std::string> lines);
};

}  // namespace gateway
