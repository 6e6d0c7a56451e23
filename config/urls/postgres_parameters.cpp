#include "config/urls/postgres_parameters.hpp"

#include "config/text/text_file.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <postgresql/libpq-fe.h>
#include <vector>

namespace gateway::config {
namespace {

struct unsupported {
    std::string_view parameter;
    std::string_view why;
};

constexpr std::array unsupported_parameters{
    unsupported{"hostaddr", "write the address as the host"},
    unsupported{"client_encoding", "it does not matter"},
    unsupported{"replication", "this is no standby"},
};

struct choice {
    std::string_view parameter;
    std::vector<std::string_view> values;
    // Text that is added to a complaint.
    std::string_view because{};
};

// The values that are accepted; libpq would complain of others only when it connects.
const std::array choices{
    choice{"sslmode", {"disable", "allow", "prefer", "require", "verify-ca", "verify-full"}},
    choice{"channel_binding", {"disable", "prefer", "require"}},
    choice{"ssl_min_protocol_version", {"TLSv1", "TLSv1.1", "TLSv1.2", "TLSv1.3"}},
    choice{"ssl_max_protocol_version", {"TLSv1", "TLSv1.1", "TLSv1.2", "TLSv1.3"}},
    choice{
        "target_session_attrs",
        {"any", "read-write", "primary"},
        ": buckets are written, which no standby lets us do"},
};

constexpr std::array<std::string_view, 3> file_parameters{"sslrootcert", "sslcert", "sslkey"};

// Most bytes of a file of certificates or with a key.
constexpr std::size_t max_file = 1024 * 1024;

// Returns null if there is no parameter of that name.
const PQconninfoOption* option_of(std::string_view name)
{
    static const std::unique_ptr<PQconninfoOption, decltype(&PQconninfoFree)> all{
        PQconninfoParse("", nullptr), &PQconninfoFree};
    for (const PQconninfoOption* o = all.get(); o != nullptr && o->keyword != nullptr; ++o) {
        if (name == o->keyword) {
            return o;
        }
    }
    return nullptr;
}

std::string complaint_of_value(const choice& of, const std::string& value)
{
    if (std::find(of.values.begin(), of.values.end(), value) != of.values.end()) {
        return {};
    }
    std::string expected;
    for (const std::string_view v : of.values) {
        expected += (expected.empty() ? "" : ", ") + std::string{v};
    }
    return std::string{of.parameter} + " is \"" + value + "\", expected one of " + expected +
           std::string{of.because};
}

}  // namespace

bool is_postgres_parameter(std::string_view name)
{
    return option_of(name) != nullptr;
}

bool is_postgres_secret(std::string_view name)
{
    // The parameter `options` may hold a setting that is a secret for functions of the owner.
    const PQconninfoOption* const o = option_of(name);
    return o != nullptr && (std::string_view{o->dispchar} == "*" || name == "options");
}

std::string complaint_of(const postgres_parameters& all)
{
    for (const unsupported& u : unsupported_parameters) {
        if (all.contains(std::string{u.parameter})) {
            return "the parameter " + std::string{u.parameter} +
                   " is not supported: " + std::string{u.why};
        }
    }
    for (const choice& c : choices) {
        const auto given = all.find(std::string{c.parameter});
        std::string wrong =
            given == all.end() ? std::string{} : complaint_of_value(c, given->second);
        if (!wrong.empty()) {
            return wrong;
        }
    }
    for (const std::string_view name : file_parameters) {
        const auto given = all.find(std::string{name});
        // The key may be in an engine: "engine:name".
        const bool is_file = given != all.end() &&
                             (name != "sslkey" || given->second.find(':') == std::string::npos);
        const std::string wrong =
            is_file ? read_text_file(given->second, max_file).complaint : std::string{};
        if (!wrong.empty()) {
            return std::string{name} + ": " + given->second + ' ' + wrong;
        }
    }
    return {};
}

}  // namespace gateway::config
