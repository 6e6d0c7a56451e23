#include "config/urls/postgres_service.hpp"

#include "config/text/text_file.hpp"
#include "gateway/base/text.hpp"

#include <cstdlib>
#include <optional>
#include <sstream>
#include <string_view>
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

std::string_view trimmed(std::string_view line)
{
    constexpr std::string_view blank = " \t\r";
    const std::size_t begin = line.find_first_not_of(blank);
    return begin == std::string_view::npos
               ? std::string_view{}
               : line.substr(begin, line.find_last_not_of(blank) + 1 - begin);
}

// Adds a line of the service. `where` is the line's position, for complaints.
void add_line(postgres_service& service, std::string_view line, const std::string& where)
{
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos || equals == 0) {
        service.complaint = where + ": expected parameter=value";
        return;
    }
    const std::string name{line.substr(0, equals)};
    if (name == "service") {
        service.complaint = where + ": a service cannot name another";
        return;
    }
    // The first of two equal names counts, as with libpq.
    service.parameters.emplace(name, line.substr(equals + 1));
}

// Returns nothing if the file does not have the service.
std::optional<postgres_service> find(
    const std::string& name, const std::string& file, const std::string& text
)
{
    std::optional<postgres_service> found;
    bool is_its_own = false;
    std::istringstream lines{text};
    int number = 0;
    for (std::string one; std::getline(lines, one);) {
        ++number;
        const std::string_view line = trimmed(one);
        if (line.empty() || line.front() == '#') {
            continue;
        }
        if (line.front() == '[') {
            if (found) {
                break;
            }
            is_its_own = line == '[' + name + ']';
            if (is_its_own) {
                found.emplace();
            }
        } else if (is_its_own) {
            add_line(*found, line, file + ':' + std::to_string(number));
            if (!found->complaint.empty()) {
                break;
            }
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
    std::vector<std::string> files;
    if (!first.empty()) {
        files.push_back(first);
    }
    files.push_back(from_environment("PGSYSCONFDIR", system_folder) + "/pg_service.conf");
    return files;
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
