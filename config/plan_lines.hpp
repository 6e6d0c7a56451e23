// The lines of a plan file, KEY,PLAN each: spaces around both do not matter, a line that is empty
// or begins with `#` says nothing. The last comma of a line is the one, so a key may contain
// others. Pure.
#pragma once

#include "gateway/policy/plan_table.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace gateway::config {

inline constexpr std::size_t max_plan_lines = policy::max_plan_keys;
// Bytes.
inline constexpr std::size_t longest_plan_line = 1024;

// What is wrong with a member, or empty. Keys may be secrets: it is not repeated. `by_address`: it
// is an address or a prefix.
std::string add_plan_member(
    policy::plan_table& to, std::string_view member, std::string_view plan, bool by_address
);

// Reads a file that comes in pieces.
class plan_lines {
public:
    plan_lines(bool by_address, const base::hash_key& key) : table_(key), by_address_(by_address) {}

    // False: a line is bad, and nothing more is read.
    bool add(std::string_view piece);
    // The end of the file.
    bool finish();

    // The last line that was read, from 1, and what is wrong with it.
    std::size_t line() const { return line_; }

    const std::string& complaint() const { return complaint_; }

    // Returns true if there was neither a key nor a comment: nobody wrote such a file on purpose.
    bool says_nothing() const { return says_nothing_; }

    policy::plan_table& table() { return table_; }

private:
    policy::plan_table table_;
    bool by_address_;
    // The beginning of a line whose end has not come; at most longest_plan_line.
    std::string begun_;
    std::size_t line_ = 0;
    bool says_nothing_ = true;
    std::string complaint_;

    bool read(std::string_view line);
    std::string add_line(std::string_view line);
};

}  // namespace gateway::config
