// libpq's connection parameters: which there are, which are secrets, and which values cannot work.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace gateway::config {

// Values by the names of their parameters.
using postgres_parameters = std::map<std::string, std::string>;

// Whether this machine's libpq knows it.
bool is_postgres_parameter(std::string_view name);

// Whether its value must not be shown.
bool is_postgres_secret(std::string_view name);

// What is wrong with one of them; empty: nothing. Looks whether the files that they name are there.
std::string complaint_of(const postgres_parameters& all);

}  // namespace gateway::config
