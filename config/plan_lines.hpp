// `plan_lines` reads the lines of a plan file, KEY,PLAN each. Spaces around both do not matter. A
// line that is empty or begins with `#` is ignored. The last comma of a line separates the two, so
// a key may contain others. Pure.
#pragma once

#include "gateway/policy/plan_section.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace gateway::config {

inline constexpr std::size_t max_plan_lines = policy::max_plan_keys;
// Units: bytes.
inline constexpr std::size_t longest_plan_line = 1024;

// Adds a member in the form in which `part` of a request is read (policy/stated_value.hpp). If that
// is the client's address, a member is an address or a prefix. Returns what is wrong with the
// member, or empty. It never repeats the member, as keys may be secrets.
std::string add_plan_member(
    policy::plan_table& to,
    std::string_view member,
    std::string_view plan,
    const policy::key_part& part
);

// `plan_lines` reads a file in pieces.
class plan_lines {
public:
    plan_lines(policy::key_part part, const base::hash_key& key)
        : table_(key), part_(std::move(part))
    {}

    // Reads the next piece. Returns false if a line is bad. Nothing more is read then.
    bool add(std::string_view piece);
    // Ends the file. Returns false if a line was bad.
    bool finish();

    // Returns the number of the last line that was read, from 1. complaint() is what is wrong with
    // it.
    std::size_t line() const { return line_; }

    const std::string& complaint() const { return complaint_; }

    // True if there was neither a key nor a comment. Nobody writes such a file on purpose.
    bool is_empty() const { return is_empty_; }

    policy::plan_table& table() { return table_; }

private:
    policy::plan_table table_;
    policy::key_part part_;
    // Beginning of a line whose end has not come, at most longest_plan_line bytes.
    std::string begun_;
    std::size_t line_ = 0;
    bool is_empty_ = true;
    std::string complaint_;

    bool read(std::string_view line);
    std::string add_line(std::string_view line);
};

}  // namespace gateway::config
