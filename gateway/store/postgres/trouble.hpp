// What a PostgreSQL server's complaint means. Pure.
#pragma once

#include "gateway/store/store.hpp"

#include <string>
#include <string_view>

namespace gateway::store::postgres {

struct trouble {
    failure why = failure::unreachable;
    // The server's or libpq's own words; no password is ever among them.
    std::string words{};
    // What was asked was not done, and may be at once: another call was in its way.
    bool try_again = false;
    // The server is not, or no longer, the one to talk to.
    bool reconnect = false;
    // The server's session is another one than before, or was somebody else's.
    bool is_pooled = false;
    // Our schema is not there, or not all of it.
    bool no_schema = false;
};

// `code`: the five characters of SQLSTATE.
trouble trouble_of(std::string_view code, std::string_view words);

// What libpq says in its verbose form when there is no connection: "... FATAL:  28P01: words".
trouble trouble_in(std::string_view message);

// What it says in that form when a connection that was open has ended.
trouble trouble_of_loss(std::string_view message);

}  // namespace gateway::store::postgres
