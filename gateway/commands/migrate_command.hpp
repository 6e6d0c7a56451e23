// `migrate()` runs `gateway migrate`, which installs what shared stores need before they can be
// asked.
#pragma once

#include "config/settings.hpp"

#include <iosfwd>

namespace gateway {

// Installs what each store needs, and says what became of it. Returns the exit status.
int migrate(const config::settings& settings, std::ostream& out, std::ostream& err);

// Prints the statements that migrate() would execute in a database without any of it; connects to
// none. Returns the exit status.
int print_migration(const config::settings& settings, std::ostream& out, std::ostream& err);

}  // namespace gateway
