// Functions that decide which requests the admin API takes: by the name that they were sent to, and
// by their token. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gateway::admin {

// Returns true if the authority of a request names an IP address, localhost or one of `names`, or
// is empty, as no browser sends it. A web page can have its own name resolve to the address of the
// admin API (DNS rebinding) and then call it from the browser of a visitor. The browser names that
// host in the request.
// Requires: a well-formed authority, and names in lower case without a final dot.
bool answers_to(std::string_view authority, const std::vector<std::string>& names);

enum class access {
    granted,
    // The configuration has no token, so no caller is let in.
    closed,
    // The request has no token, or a wrong one.
    refused,
};

// Returns the access that a request has to guarded calls. `authorization` is the value of that
// field, `Bearer TOKEN` (RFC 6750 §2.1). The time that this takes does not reveal how much of the
// token is right.
access access_with(std::string_view token, std::string_view authorization);

}  // namespace gateway::admin
