// The commands of the command line that have files of their own. Each is called once, by main, and
// returns the exit status.
// Thread: the main thread.
#pragma once

#include "gateway/commands/cli.hpp"

#include <ostream>
#include <string>

namespace gateway {

// Runs `gateway explain`, which tells a person what would become of a request. Without
// request.admin the counts are unknown. With it the running gateway answers from its own
// configuration, and only the token of `settings` is used.
int explain_request(
    const config::settings& settings,
    const cli::request& request,
    std::ostream& out,
    std::ostream& err
);

// Runs `gateway health`, the health check of containers, which have no HTTP client. Asks the admin
// API for /healthz, or with `ready` for /readyz. Returns failed_while_running, with the reason on
// `err`, unless the answer is 200 within two seconds.
int ask_health(const net::listen_address& admin, bool ready, std::ostream& err);

// Runs `gateway migrate`: installs what each shared store needs before it can be asked, and says
// what became of it.
int migrate(const config::settings& settings, std::ostream& out, std::ostream& err);

// Prints the statements that migrate() would execute in a database without any of it; connects to
// none.
int print_migration(const config::settings& settings, std::ostream& out, std::ostream& err);

// Runs `gateway replay`, which decides the requests of access logs again under a candidate's
// policy. Writes problems, and on a terminal the progress, to `err`.
int replay_logs(
    const config::settings& settings,
    const cli::request& request,
    std::ostream& out,
    std::ostream& err
);

struct top_request {
    net::listen_address admin;
    // Token of the admin API; empty: there is none, and clients are shown by hashes.
    std::string token{};
    // True if one picture is to be printed.
    bool once = false;
};

// Runs `gateway top`, which shows in a terminal what the page of the admin API shows, from the same
// stream. Shows until the key q, SIGINT or SIGTERM, and connects again whenever the gateway is
// gone; with `once` prints one picture. Returns failed_while_running if there is no picture.
int show_top(const top_request& request, std::ostream& err);

}  // namespace gateway
