#include "config/urls/postgres_parameters.hpp"

#include "config/text/text_file.hpp"
#include "config/urls/address.hpp"
#include "gateway/base/text.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <postgresql/libpq-fe.h>
#include <span>

namespace gateway::config {
namespace {

struct rule {
    std::string_view parameter;
    std::string_view text;
};

// Parameters that are refused, and why.
constexpr std::array unsupported{
    rule{"hostaddr", "write the address as the host"},
    rule{"client_encoding", "it does not matter"},
    rule{"replication", "this is no standby"},
};

constexpr std::string_view tls_version_names = "TLSv1, TLSv1.1, TLSv1.2, TLSv1.3";

// The values that are accepted, before any ':'; libpq would complain of others only when it
// connects.
constexpr std::array choices{
    rule{"sslmode", "disable, allow, prefer, require, verify-ca, verify-full"},
    rule{"channel_binding", "disable, prefer, require"},
    rule{"ssl_min_protocol_version", tls_version_names},
    rule{"ssl_max_protocol_version", tls_version_names},
    rule{
        "target_session_attrs",
        "any, read-write, primary: buckets are written, which no standby lets us do"},
};

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

// Returns the text about the parameter, or empty.
std::string_view find(std::span<const rule> rules, std::string_view parameter)
{
    const auto found = std::find_if(rules.begin(), rules.end(), [&](const rule& one) {
        return one.parameter == parameter;
    });
    return found == rules.end() ? std::string_view{} : found->text;
}

bool is_one_of(std::string_view value, std::string_view list)
{
    bool is_one = false;
    base::for_each_element(list.substr(0, list.find(':')), ',', [&](std::string_view one) {
        is_one = is_one || one == value;
    });
    return is_one;
}

// The key may be in an engine: "engine:name".
bool is_file(const std::string& name, const std::string& value)
{
    return name == "sslrootcert" || name == "sslcert" ||
           (name == "sslkey" && value.find(':') == std::string::npos);
}

void check(const std::string& name, const std::string& value)
{
    if (const std::string why{find(unsupported, name)}; !why.empty()) {
        throw invalid_url{"the parameter " + name + " is not supported: " + why};
    }
    const std::string expected{find(choices, name)};
    if (!expected.empty() && !is_one_of(value, expected)) {
        throw invalid_url{name + " is \"" + value + "\", expected one of " + expected};
    }
    const std::string wrong =
        is_file(name, value) ? read_text_file(value, max_file).complaint : std::string{};
    if (!wrong.empty()) {
        throw invalid_url{name + ": " + value + ' ' + wrong};
    }
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

void check_postgres_parameters(const postgres_parameters& all)
{
    for (const auto& [name, value] : all) {
        check(name, value);
    }
}

}  // namespace gateway::config
