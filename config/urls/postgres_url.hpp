// Parses the URL of a PostgreSQL server, in libpq's own form. It may hold a password, so no message
// ever repeats it.
#pragma once

#include "config/urls/address.hpp"
#include "gateway/store/postgres/options.hpp"

#include <string>
#include <string_view>

namespace gateway::config {

// Sets the fields of the URL, and leaves the others at their defaults. Checks that the files that
// it names are there.
// postgresql://[user[:password]@][host[:port][,...]][/database][?parameter=value&...]
parsed<store::postgres_options> parse_postgres_url(const std::string& text);

// Returns the URL again, with *** for the password and every other secret.
std::string url_without_secret(const store::postgres_options& options);

}  // namespace gateway::config
