// Checks libpq's connection parameters: which exist, which are secret, which values cannot work.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace gateway::config {

// Values by the names of their parameters.
using postgres_parameters = std::map<std::string, std::string>;

// True if this machine's libpq knows the parameter.
bool is_postgres_parameter(std::string_view name);

// True if the parameter's value must not be shown.
bool is_postgres_secret(std::string_view name);

// Checks the values, and that the files that they name are there.
// Errors: throws invalid_url.
void check_postgres_parameters(const postgres_parameters& all);

}  // namespace gateway::config
