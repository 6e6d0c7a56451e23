// Parses the URL of a shared store. It may hold a password, so no message ever repeats it.
#pragma once

#include "config/urls/address.hpp"
#include "gateway/store/shared_options.hpp"

#include <string>
#include <string_view>

namespace gateway::config {

// Sets the fields of the URL, and leaves the others at their defaults. These are its forms:
// redis://[user:password@]host[:port][/db], rediss:// likewise,
// unix://[user:password@]/path[?db=N],
// redis-sentinel://[user:password@]host[:port],host/MASTER[/db],
// redis-cluster://[user:password@]host[:port],host,
// rediss-sentinel:// and rediss-cluster:// likewise, postgresql:// as libpq has it.
parsed<store::shared_options> parse_store_url(std::string_view text);

// Returns the URL again, with *** for the password.
std::string url_without_secret(const store::shared_options& options);

}  // namespace gateway::config
