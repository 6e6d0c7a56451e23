#include "config/keys/pem_keys.hpp"

#include "config/text/text_file.hpp"
#include "config/text/yaml_text.hpp"
#include "gateway/base/clock.hpp"

namespace gateway::config {
namespace {

constexpr std::size_t longest_pem_file = 1024 * 1024;

}  // namespace

void describe_file(
    const described_key& k, net::pem_file& file, stated documented, std::size_t max, const draft& d
)
{
    const auto take = [&](const std::string& path) -> std::string {
        text_file read = read_text_file(beside(d, path), max);
        const bool is_empty = read.complaint.empty() && read.text.empty();
        file = {path, std::move(read.text)};
        return is_empty                 ? quote(path) + " is empty"
               : read.complaint.empty() ? ""
                                        : quote(path) + ' ' + read.complaint;
    };
    k.text({.documented = documented, .take = take, .print = [&file] {
                return yaml_or_nothing(file.path);
            }});
}

void describe_pem(const described_key& k, net::pem_file& file, const draft& d)
{
    describe_file(k, file, {"none", "a path of a PEM file"}, longest_pem_file, d);
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

}  // namespace gateway::config
