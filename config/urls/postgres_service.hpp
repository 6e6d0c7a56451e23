// libpq's connection service files (libpq, "The Connection Service File"), which name the
// parameters of a database.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace gateway::config {

struct postgres_service {
    std::map<std::string, std::string> parameters{};
    // What is wrong, or empty.
    std::string complaint{};
};

// The files that libpq looks at, in its order: the one that PGSERVICEFILE names, or else the
// user's own; then that of the system.
std::vector<std::string> postgres_service_files();

// The service of that name in the first file that has it. A file that is not there is passed over.
postgres_service read_postgres_service(
    const std::string& name, const std::vector<std::string>& files
);

}  // namespace gateway::config
