// Header fields as `gateway print` shows them: a value that is a credential by the name of its
// field is hidden. Pure.
#pragma once

#include "config/text/yaml_text.hpp"

#include <string>
#include <string_view>

namespace gateway::config {

// Returns true for Authorization, Cookie, X-Api-Key, X-Origin-Verify and their like.
bool is_credential_field(std::string_view name);

// Returns the fields as a YAML mapping on one line, with *** for the values of credential fields,
// or nothing if there are none. Each is a pair of name and value.
template <class Fields>
std::string yaml_fields(const Fields& fields)
{
    return yaml_mapping(fields, [](const auto& field) {
        const auto& [name, value] = field;
        return std::pair{name, is_credential_field(name) ? "\"***\"" : yaml(value)};
    });
}

}  // namespace gateway::config
