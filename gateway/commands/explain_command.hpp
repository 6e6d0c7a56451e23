// `gateway explain`: what would become of a request, told to a person. Called once, by main.
#pragma once

#include "gateway/commands/cli.hpp"

#include <ostream>

namespace gateway {

// Returns the exit status. Without request.admin the counts are unknown; else the running gateway
// answers, from its own configuration, and `settings` only has the token.
int explain_request(
    const config::settings& settings,
    const cli::request& request,
    std::ostream& out,
    std::ostream& err
);

}  // namespace gateway
