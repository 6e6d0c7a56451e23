// `replay_logs()` runs `gateway replay`, which decides the requests of access logs again under a
// candidate's policy.
// Called once, by main.
#pragma once

#include "config/settings.hpp"
#include "gateway/commands/cli.hpp"

#include <iosfwd>

namespace gateway {

// Returns the exit status. Writes problems, and on a terminal the progress, to `err`.
int replay_logs(
    const config::settings& settings,
    const cli::request& request,
    std::ostream& out,
    std::ostream& err
);

}  // namespace gateway
