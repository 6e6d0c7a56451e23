// Functions for keys of the configuration that a running process cannot change. A reload starts
// another process to replace this one, or keeps the keys as they are if that is impossible.
#pragma once

#include "config/settings.hpp"

#include <string>
#include <vector>

namespace gateway {

// Returns the keys whose values differ.
std::vector<std::string> needs_restart(
    const config::settings& running, const config::settings& fresh
);

// Returns the warnings about a reload that does not change these keys, and those of `fresh`.
std::vector<std::string> reload_warnings(
    std::vector<std::string> unchanged, const config::settings& fresh
);

// Copies the running values of those keys to `fresh`.
// Errors: throws std::runtime_error if `fresh` could not work with them.
void keep_fixed(const config::settings& running, config::settings& fresh);

}  // namespace gateway
