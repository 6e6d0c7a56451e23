// The command line: what the process is asked to do. Called once, by main.
#pragma once

#include "config/settings.hpp"
#include "gateway/intake/told_request.hpp"

#include <optional>
#include <ostream>
#include <string>
#include <variant>

namespace gateway::cli {

// Exit statuses (docs/configuration.md).
inline constexpr int done = 0;
inline constexpr int failed_while_running = 1;
// A wrong command line, or a bad configuration.
inline constexpr int wrong_usage = 2;

enum class command { run, check, print, schema, explain, migrate };

struct request {
    command what = command::run;
    // Empty with `schema`.
    std::string config_path;
    // Of `explain`.
    intake::told_request told{};
    // True if `migrate` prints the statements instead of executing them.
    bool prints_sql = false;
    // Where the running gateway's admin API is; nothing: the counts are not asked for.
    std::optional<net::listen_address> admin{};
};

// The command line asks for nothing more: help, the version, or a complaint.
struct output {
    int status = done;

    // What to print: on stdout when done, else on stderr; it ends in a newline.
    std::string text;
};

std::variant<request, output> parse(int argc, const char* const* argv);

// The file's settings, its warnings told; or nothing, and one line for each problem.
std::optional<config::settings> load(const std::string& config_path, std::ostream& err);

// `gateway check` and `gateway print`; they return the exit status.
int check(const std::string& config_path, std::ostream& out, std::ostream& err);
int print(const std::string& config_path, std::ostream& out, std::ostream& err);

// `gateway schema`.
int schema(std::ostream& out);

}  // namespace gateway::cli
