// Keys of the configuration that a running process cannot change. A reload has another process
// follow for them, or keeps them as they are where none could.
#pragma once

#include "config/settings.hpp"

#include <string>
#include <vector>

namespace gateway {

// Those whose values differ.
std::vector<std::string> needs_restart(
    const config::settings& running, const config::settings& fresh
);

// Puts the running values of those keys into `fresh`. Throws std::runtime_error if that could not
// work with them.
void keep_fixed(const config::settings& running, config::settings& fresh);

}  // namespace gateway
