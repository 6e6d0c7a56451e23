// Reads connection service files (libpq, "The Connection Service File"), which hold the parameters
// of a database under a name.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace gateway::config {

struct postgres_service {
    std::map<std::string, std::string> parameters{};
    // The error, or empty.
    std::string complaint{};
};

// Returns the files that libpq looks at, in its order: the one that PGSERVICEFILE names, or else
// the user's own, and then that of the system.
std::vector<std::string> postgres_service_files();

// Returns the service of that name from the first file that has it. Passes over missing files.
postgres_service read_postgres_service(
    const std::string& name, const std::vector<std::string>& files
);

}  // namespace gateway::config
