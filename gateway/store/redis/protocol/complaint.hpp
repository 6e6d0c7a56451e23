// `complaint` is the meaning of a Redis server's error reply. Pure.
#pragma once

#include "gateway/store/failure.hpp"

#include <string>
#include <string_view>

namespace gateway::store::redis {

struct complaint {
    // True if the server does not know the script (any more): it must be loaded, and the call sent
    // again.
    bool noscript = false;
    // True if the server is not, or no longer, the one to talk to.
    bool reconnect = false;

    failure why = failure::config;
};

complaint classify(std::string_view error);

// Returns the meaning of an error in reply to AUTH, since "ERR AUTH <password> called without any
// password configured" has no code of its own.
failure classify_login(std::string_view error);

// Returns the part of an error that may be logged: the server's own words, cut before what it
// repeats of a command (an old server repeats an AUTH that it does not know), and without the
// password wherever it stands.
std::string quotable(std::string_view error, std::string_view password);

}  // namespace gateway::store::redis
