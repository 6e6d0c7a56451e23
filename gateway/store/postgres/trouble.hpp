// `trouble` is the meaning of an error that a PostgreSQL server or libpq reports. Pure.
#pragma once

#include "gateway/store/store.hpp"

#include <string>
#include <string_view>

namespace gateway::store::postgres {

struct trouble {
    failure why = failure::unreachable;
    // Words of the server or of libpq, which never contain a password.
    std::string words{};
    // True if nothing was done because another call was in the way, so that it may be sent again at
    // once.
    bool try_again = false;
    // True if the server is not, or no longer, the one to talk to.
    bool reconnect = false;
    // True if the server's session is another one than before, or was somebody else's.
    bool is_pooled = false;
    // True if the schema is not there, or not all of it.
    bool no_schema = false;
};

// Returns the meaning of an error. `code` is the five characters of SQLSTATE.
trouble trouble_of(std::string_view code, std::string_view words);

// Returns the meaning of libpq's message, in its verbose form, when there is no connection: "...
// FATAL:  28P01: words".
trouble trouble_in(std::string_view message);

// Returns the meaning of its message, in that form, when an open connection has ended.
trouble trouble_of_loss(std::string_view message);

}  // namespace gateway::store::postgres
