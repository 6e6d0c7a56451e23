// Header fields as `gateway print` shows them: a value that is a credential by the name of its
// field is hidden. Pure.
#pragma once

#include <string>
#include <string_view>

namespace gateway::config {

// Returns true for Authorization, Cookie, X-Api-Key, X-Origin-Verify and their like.
bool is_credential_field(std::string_view name);

// Returns `NAME: VALUE` as YAML, with *** for the value of a credential field.
std::string yaml_field(std::string_view name, std::string_view value);

// Returns the fields as a YAML mapping on one line. Each is a pair of name and value.
template <class Fields>
std::string yaml_fields(const Fields& fields)
{
    std::string all;
    for (const auto& [name, value] : fields) {
        all += (all.empty() ? "" : ", ") + yaml_field(name, value);
    }
    return "{ " + all + " }";
}

}  // namespace gateway::config
