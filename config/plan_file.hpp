// A plan file: read as a whole, and told from its next version.
#pragma once

#include "gateway/policy/plan_section.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace gateway::config {

// What changes when a file does, or when another one takes its place; all zero: there is none.
struct file_stamp {
    std::uint64_t device = 0;
    std::uint64_t number = 0;
    std::int64_t size = 0;
    // Nanoseconds since the epoch: of the last write, and of the last change of anything.
    std::int64_t written = 0;
    std::int64_t changed = 0;

    bool operator==(const file_stamp&) const = default;
};

file_stamp stamp_of(const std::string& path);

struct plan_file {
    // Null: it could not be read.
    std::shared_ptr<const policy::plan_table> members{};
    // From before it was read, or could not be: what was written meanwhile is a change.
    file_stamp stamp{};
    // Why not: one line for a person, which names file and line.
    std::string complaint{};
};

// Any thread; takes about half a second for a million lines.
plan_file read_plan_file(const std::string& path, const policy::key_part& part);

}  // namespace gateway::config
