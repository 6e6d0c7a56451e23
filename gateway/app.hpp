// The composition root: builds the objects from the settings, runs them, and takes them down.
#pragma once

#include "config/settings.hpp"
#include "gateway/process_start.hpp"

#include <string>

namespace gateway {

// Serves until SIGTERM or SIGINT; the exit status. SIGHUP loads `config_path` again, SIGUSR2 has
// another process follow, started as `start` tells.
// Throws std::exception if it cannot start: an address in use, say.
int run(const config::settings& settings, const std::string& config_path, own_start start);

}  // namespace gateway
