// What the error replies of Redis servers mean. Pure.
#pragma once

#include "gateway/store/failure.hpp"

#include <string>
#include <string_view>

namespace gateway::store::redis {

struct complaint {
    // The server does not know the script (any more): load it, ask again.
    bool noscript = false;
    // The server is not, or no longer, the one to talk to.
    bool reconnect = false;

    failure why = failure::config;
};

complaint classify(std::string_view error);

// What an error means that answers AUTH: "ERR AUTH <password> called without any password
// configured" has no word of its own.
failure classify_login(std::string_view error);

// What of an error the log may have: the server's own words, cut before what it repeats of a
// command (an old server repeats the AUTH it does not know), and without the password wherever it
// stands.
std::string quotable(std::string_view error, std::string_view password);

}  // namespace gateway::store::redis
