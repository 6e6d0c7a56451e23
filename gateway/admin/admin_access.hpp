// `access_with` decides if a caller may use guarded calls of the admin API. Pure.
#pragma once

#include <string_view>

namespace gateway::admin {

enum class access {
    granted,
    // The configuration has no token, so no caller is let in.
    closed,
    // The request has no token, or a wrong one.
    refused,
};

// Returns the access that a request has. `authorization` is the value of that field, `Bearer TOKEN`
// (RFC 6750 §2.1). The time that this takes does not reveal how much of the token is right.
access access_with(std::string_view token, std::string_view authorization);

}  // namespace gateway::admin
