// A call as a statement for a PostgreSQL server: which of our functions, and the values of its
// parameters. Pure.
#pragma once

#include "gateway/base/clock.hpp"
#include "gateway/store/remote/call.hpp"
#include "gateway/store/remote/told_call.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gateway::store::postgres {

struct statement {
    // A parameter's value, in the binary form of its type or as text.
    struct value {
        // As in pg_type.
        unsigned type;
        bool is_binary;
        std::string bytes;
    };

    // What prepared_statements() has prepared under this name; empty: `sql` is to be parsed.
    const char* prepared = "";
    std::string sql;
    std::vector<value> values;
    // What the reply is read by.
    std::vector<usual_questions> shape;
};

// How statements are told on a connection.
struct statement_form {
    std::string_view key_prefix;
    // Behind a pooler: for how many milliseconds a lock may be waited for, which a session of our
    // own is told once.
    std::optional<std::int64_t> pooled_wait;
};

// SQL that a session of our own is told first: else each call is parsed and planned anew.
std::string_view prepared_statements();

// SQL that it is told then: calls each of them, and undoes what they did. The server reads a
// function, and plans what is in it, when a session first calls it, which takes 6 to 24 ms (a later
// call: less than 1 ms, on a machine with nothing else to do), and several sessions begin at once
// when a server is back. Decisions have no time for that.
std::string_view rehearsal();

statement take(const call& c, const statement_form& form, base::duration unix_now);
statement probe(std::int64_t number, const statement_form& form);

}  // namespace gateway::store::postgres
