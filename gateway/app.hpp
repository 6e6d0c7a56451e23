// The composition root: builds the objects from the settings, runs them, and takes them down.
#pragma once

#include "config/settings.hpp"
#include "gateway/process/process_start.hpp"

#include <string>

namespace gateway {

// Serves until SIGTERM, SIGINT or SIGQUIT; the exit status. SIGHUP loads `config_path` again,
// SIGUSR2 has another process follow, started as `start` tells. Requires: signals::prepare(), and
// no descriptor that is open but 0 to 2 and those that came along. Throws std::exception if it
// cannot start: an address in use, say.
int run(const config::settings& settings, const std::string& config_path, own_start start);

}  // namespace gateway
