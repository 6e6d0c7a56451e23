// Who may do what with the admin API: nobody without a token in the configuration. Pure.
#pragma once

#include <string_view>

namespace gateway::admin {

enum class access {
    granted,
    // The configuration has no token: nobody is let in.
    closed,
    // No token came, or not that one.
    refused,
};

// `authorization`: the value of that field, `Bearer TOKEN` (RFC 6750 §2.1). How long it takes says
// nothing of how much of the token is right.
access access_with(std::string_view token, std::string_view authorization);

}  // namespace gateway::admin
