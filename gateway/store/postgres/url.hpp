// The URL of a PostgreSQL server, in libpq's own form. It may hold a password, so no message ever
// repeats it.
#pragma once

#include "gateway/store/postgres/options.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace gateway::store::postgres {

struct parsed_url {
    // Nothing: see the complaint. The fields of the URL; the others have their defaults.
    std::optional<postgres_options> value;
    std::string complaint;
};

// postgresql://[user[:password]@][host[:port][,...]][/database][?parameter=value&...]
parsed_url parse_url(const std::string& text);

// The URL again, with *** for the password.
std::string url_without_secret(const postgres_options& options);

}  // namespace gateway::store::postgres
