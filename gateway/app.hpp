// `run`, the composition root, builds the objects from the settings, runs them, and destroys them.
#pragma once

#include "config/settings.hpp"
#include "gateway/process/process_start.hpp"

#include <string>

namespace gateway {

// Serves until SIGTERM, SIGINT or SIGQUIT, and returns the exit status. SIGHUP loads `config_path`
// again. SIGUSR2 starts a process to replace this one, as `start` says.
// Requires: signals::prepare(), and no open descriptors but 0 to 2 and the inherited ones.
// Errors: throws std::exception if it cannot start, for example if an address is in use.
int run(const config::settings& settings, const std::string& config_path, own_start start);

}  // namespace gateway
