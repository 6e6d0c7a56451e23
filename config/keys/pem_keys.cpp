#include "config/keys/pem_keys.hpp"

#include "config/text/text_file.hpp"
#include "config/text/yaml_text.hpp"
#include "gateway/base/clock.hpp"

namespace gateway::config {
namespace {

constexpr std::size_t longest_pem_file = 1024 * 1024;

}  // namespace

void load_named_file(
    section& from, std::string_view key, std::size_t max, net::pem_file& file, const draft& d
)
{
    const std::string* const path = from.text(key);
    if (path == nullptr) {
        return;
    }
    text_file read = read_text_file(beside(d, *path), max);
    if (!read.complaint.empty()) {
        from.problem(key, quote(*path) + ' ' + read.complaint);
    } else if (read.text.empty()) {
        from.problem(key, quote(*path) + " is empty");
    }
    file = {*path, std::move(read.text)};
}

// Compares in seconds, whose range of dates is larger than that of nanoseconds: "without an end" is
// the year 9999.
outdated outdated_in(const net::pem_file& file)
{
    const auto now = std::chrono::floor<std::chrono::seconds>(base::unix_time());
    const auto facts = net::facts_of(file.text);
    outdated found;
    std::size_t good = 0;
    for (std::size_t i = 0; facts && i < facts->holds.size(); ++i) {
        const net::validity& v = facts->holds[i];
        if (v.not_before <= now && now <= v.not_after) {
            ++good;
        } else if (found.complaint.empty()) {
            found.complaint = i == 0 ? "" : "certificate " + std::to_string(i + 1) + " in ";
            found.complaint += quote(file.path);
            found.complaint += v.not_after < now ? " has expired" : " is not valid yet";
        }
    }
    found.all = !found.complaint.empty() && good == 0;
    return found;
}

std::optional<std::string> printed_path(const std::string& path)
{
    return path.empty() ? std::nullopt : std::optional{yaml(path)};
}

void describe_pem(keys& k, const key& what, net::pem_file& file, const draft& d, presence must)
{
    k.other(
        what,
        {.says = {"none", "a path of a PEM file"},
         .read =
             [&file, &d, must, name = what.name](section& from) {
                 if (must == presence::optional || from.require(name) != nullptr) {
                     load_named_file(from, name, longest_pem_file, file, d);
                 }
             },
         .print = [&file] { return printed_path(file.path); },
         .optional = must == presence::optional}
    );
}

}  // namespace gateway::config
