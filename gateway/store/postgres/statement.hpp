// `statement` is a call to a PostgreSQL server: which of the schema's functions, and the values of
// its parameters. Pure.
#pragma once

#include "gateway/base/clock.hpp"
#include "gateway/store/remote/call.hpp"
#include "gateway/store/remote/encoded_call.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gateway::store::postgres {

struct statement {
    // `value` is a parameter's value, in the binary form of its type or as text.
    struct value {
        // Object id of the type, as in pg_type.
        unsigned type;
        bool is_binary;
        std::string bytes;
    };

    // Name of a statement of prepared_statements(). If empty, `sql` is parsed instead.
    const char* prepared = "";
    std::string sql;
    std::vector<value> values;
    // Questions of the call, by which the reply is parsed.
    std::vector<simple_charges> shape;
};

// `statement_form` says how statements are sent on a connection.
struct statement_form {
    std::string_view key_prefix;
    // Milliseconds that a lock may be waited for, behind a pooler only. An unpooled session gets
    // this once, as a setting.
    std::optional<std::int64_t> pooled_wait;
};

// Returns the SQL that an unpooled session is sent first. Without it each call would be parsed and
// planned anew.
std::string_view prepared_statements();

// Returns the SQL that an unpooled session is sent after prepared_statements(): it calls each of
// them, and undoes what they did. The server reads a function, and plans what is in it, when a
// session first calls it, which takes 6 to 24 ms (a later call: less than 1 ms, on a machine with
// nothing else to do), and several sessions begin at once when a server is back. Decisions have no
// time for that.
std::string_view rehearsal();

statement take(const call& c, const statement_form& form, base::duration unix_now);
statement probe(std::int64_t number, const statement_form& form);

}  // namespace gateway::store::postgres
