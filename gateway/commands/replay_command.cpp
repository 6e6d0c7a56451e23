#include "gateway/admin/json_text.hpp"
#include "gateway/commands/commands.hpp"
#include "gateway/commands/progress_bar.hpp"
#include "gateway/replay/replay.hpp"
#include "gateway/replay/reports/reports.hpp"
#include "gateway/telemetry/escape.hpp"

#include <algorithm>
#include <fstream>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace gateway {

namespace {

replay::candidate_options candidate_of(const config::settings& s)
{
    return {
        .policy = s.policy,
        .http = s.http,
        .local_store = s.local_store,
        .max_waiting = s.server.max_waiting,
    };
}

bool cannot_write(const std::string& path, std::ostream& err)
{
    err << path << ": the report cannot be written\n";
    return false;
}

// Returns false if there can be no such file, which is better known before the logs are read. An
// older report stays until there is another one.
bool can_write_report(const std::string& path, std::ostream& err)
{
    return path.empty() || std::ofstream(path, std::ios::app).good() || cannot_write(path, err);
}

// True if the file at `path` is one of the logs, by whatever name.
bool is_log(const std::string& path, const std::vector<std::string>& logs)
{
    struct stat report {};

    if (path.empty() || ::stat(path.c_str(), &report) != 0 || !S_ISREG(report.st_mode)) {
        return false;
    }
    return std::any_of(logs.begin(), logs.end(), [&report](const std::string& log) {
        struct stat found {};

        const int failed = log == "-" ? ::fstat(STDIN_FILENO, &found) : ::stat(log.c_str(), &found);
        return failed == 0 && found.st_dev == report.st_dev && found.st_ino == report.st_ino;
    });
}

// Writes the report. Returns false if it cannot be written.
bool write_report(
    const replay::replay_result& result, const cli::replay_request& asked, std::ostream& err
)
{
    std::ofstream file(asked.report_path, std::ios::binary | std::ios::trunc);
    file << replay::as_html(result);
    file.close();
    return file.good() || cannot_write(asked.report_path, err);
}

}  // namespace

int replay_logs(
    const config::settings& settings,
    const cli::request& request,
    std::ostream& out,
    std::ostream& err
)
{
    const cli::replay_request& asked = request.replay;
    replay::replay_options options{
        .policy = candidate_of(settings),
        .logs = asked.logs,
        .fields = asked.fields,
        .accepted = {.requests = asked.accepted_requests, .clients = asked.accepted_clients}};
    if (!asked.against_path.empty()) {
        const auto other = cli::load(asked.against_path, err);
        if (!other) {
            return cli::wrong_usage;
        }
        options.against = candidate_of(*other);
    }
    if (is_log(asked.report_path, asked.logs)) {
        err << "--report " << asked.report_path
            << ": the report would overwrite a log that is to be read: name another file\n";
        return cli::wrong_usage;
    }
    if (!can_write_report(asked.report_path, err)) {
        return cli::failed_while_running;
    }
    progress_bar bar{err, ::isatty(STDERR_FILENO) == 1};
    const auto ended = replay::run_replay(options, [&bar](const replay::replay_progress& p) {
        bar.show(p.lines, p.position, p.size);
    });
    bar.clear();
    if (const auto* const failure = std::get_if<replay::replay_failure>(&ended)) {
        // It may quote a log.
        std::string what;
        telemetry::append_line_text(what, failure->what);
        err << what << '\n';
        return failure->wrong_usage ? cli::wrong_usage : cli::failed_while_running;
    }
    const auto& result = std::get<replay::replay_result>(ended);
    for (const std::string& name : result.empty_logs) {
        err << "warning: " << name << ": has no lines\n";
    }
    if (asked.as_json) {
        out << admin::json_text(replay::as_json(result)) << '\n';
    } else {
        replay::write_text(result, out);
    }
    out.flush();
    const bool reported = asked.report_path.empty() || write_report(result, asked, err);
    return reported && out.good() ? cli::done : cli::failed_while_running;
}

}  // namespace gateway
