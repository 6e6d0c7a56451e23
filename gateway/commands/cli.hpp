// `cli::parse()` reads from the command line what the process is asked to do, and `cli::load()`
// reads the configuration. The other functions are the simple commands.
// Thread: the main thread.
#pragma once

#include "config/settings.hpp"
#include "gateway/intake/hypothetical_request.hpp"

#include <optional>
#include <ostream>
#include <string>
#include <variant>
#include <vector>

namespace gateway::cli {

// Exit statuses (docs/configuration.md).
inline constexpr int done = 0;
inline constexpr int failed_while_running = 1;
// A wrong command line, or a bad configuration.
inline constexpr int wrong_usage = 2;

enum class command { run, check, print, schema, explain, health, migrate, replay, top };

// `replay_request` is what `gateway replay` is asked for.
struct replay_request {
    // Paths of access logs; "-" is the standard input.
    std::vector<std::string> logs{};
    // Path of another configuration to compare with; empty: none.
    std::string against_path{};
    // Shares that a suggestion may reject, from 0 to 1.
    std::optional<double> accepted_requests{};
    std::optional<double> accepted_clients{};
    // Members of JSON lines, as replay::described_json() takes them.
    std::string fields{};
    // Path of the report in HTML; empty: none.
    std::string report_path{};
    bool as_json = false;
};

struct request {
    command what = command::run;
    // Path of the configuration; empty for `schema`, and for a `top` or `health` that has
    // none.
    std::string config_path;
    // The hypothetical request of `explain`.
    intake::hypothetical_request hypothetical{};
    // True if `migrate` prints the statements instead of executing them.
    bool prints_sql = false;
    // Address of the running gateway's admin API; nothing if it is not asked for counts.
    std::optional<net::listen_address> admin{};
    replay_request replay{};
    // True if `top` prints one picture and ends.
    bool once = false;
    // True if `health` asks for readiness.
    bool ready = false;
};

// `output` is the whole answer to a command line: help, the version, or a complaint.
struct output {
    int status = done;

    // Text for stdout if the status is `done`, and for stderr otherwise. It ends in a newline.
    std::string text;
};

std::variant<request, output> parse(int argc, const char* const* argv);

// Returns the file's settings and writes its warnings to `err`. Returns nothing if the file has
// problems, and writes a line for each.
std::optional<config::settings> load(const std::string& config_path, std::ostream& err);

// Run `gateway check` and `gateway print`, and return the exit status.
int check(const std::string& config_path, std::ostream& out, std::ostream& err);
int print(const std::string& config_path, std::ostream& out, std::ostream& err);

// Runs `gateway schema`, and returns the exit status.
int schema(std::ostream& out);

}  // namespace gateway::cli
