// `explain_request()` runs `gateway explain`, which tells a person what would become of a request.
// Called once, by main.
#pragma once

#include "gateway/commands/cli.hpp"

#include <ostream>

namespace gateway {

// Returns the exit status. Without request.admin the counts are unknown. With it the running
// gateway answers from its own configuration, and only the token of `settings` is used.
int explain_request(
    const config::settings& settings,
    const cli::request& request,
    std::ostream& out,
    std::ostream& err
);

}  // namespace gateway
