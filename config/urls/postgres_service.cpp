#include "config/urls/postgres_service.hpp"

#include "config/text/text_file.hpp"
#include "gateway/base/text.hpp"

#include <cstdlib>
#include <optional>
#include <sstream>
#include <unistd.h>

namespace gateway::config {
namespace {

constexpr std::size_t max_service_file = 1024 * 1024;
constexpr const char* system_folder = "/etc/postgresql-common";

std::string from_environment(const char* name, const std::string& otherwise)
{
    const char* const value = std::getenv(name);
    return value == nullptr || *value == '\0' ? otherwise : value;
}

// Returns nothing if the file does not have the service. The first of two equal parameters counts,
// as with libpq.
std::optional<postgres_service> find(
    const std::string& name, const std::string& file, const std::string& text
)
{
    std::optional<postgres_service> found;
    std::istringstream lines{text};
    int number = 0;
    for (std::string one; std::getline(lines, one);) {
        ++number;
        const std::string line{base::trimmed(without_line_end(one))};
        if (line.starts_with('[')) {
            if (found) {
                break;
            }
            if (line == '[' + name + ']') {
                found.emplace();
            }
        } else if (found && !line.empty() && line.front() != '#') {
            const std::size_t equals = line.find('=');
            const std::string parameter = line.substr(0, equals);
            const std::string where = file + ':' + std::to_string(number);
            if (equals == std::string::npos || equals == 0) {
                return postgres_service{.complaint = where + ": expected parameter=value"};
            }
            if (parameter == "service") {
                return postgres_service{.complaint = where + ": a service cannot name another"};
            }
            found->parameters.emplace(parameter, line.substr(equals + 1));
        }
    }
    return found;
}

}  // namespace

std::vector<std::string> postgres_service_files()
{
    const std::string home = from_environment("HOME", "");
    const std::string own = home.empty() ? "" : home + "/.pg_service.conf";
    const std::string first = from_environment("PGSERVICEFILE", own);
    const std::string last = from_environment("PGSYSCONFDIR", system_folder) + "/pg_service.conf";
    return first.empty() ? std::vector{last} : std::vector{first, last};
}

postgres_service read_postgres_service(
    const std::string& name, const std::vector<std::string>& files
)
{
    std::string looked;
    for (const std::string& file : files) {
        looked += (looked.empty() ? "" : " and ") + file;
        if (::access(file.c_str(), F_OK) != 0) {
            continue;
        }
        const text_file read = read_text_file(file, max_service_file);
        if (!read.complaint.empty()) {
            return {.complaint = file + " " + read.complaint};
        }
        if (auto found = find(name, file, read.text)) {
            return std::move(*found);
        }
    }
    return {.complaint = "no service \"" + name + "\" in " + looked};
}

}  // namespace gateway::config
