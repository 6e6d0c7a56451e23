// `answers_to` checks the names under which the admin API answers. A web page can have its own name
// resolve to the address of the admin API (DNS rebinding) and then call it from the browser of a
// visitor. The browser names that host in the request. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gateway::admin {

// Returns true if the authority of a request names an IP address, localhost or one of `names`, or
// is empty, as no browser sends it.
// Requires: a well-formed authority, and names in lower case without a final dot.
bool answers_to(std::string_view authority, const std::vector<std::string>& names);

}  // namespace gateway::admin
