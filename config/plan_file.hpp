// `plan_file` is a plan file that was read as a whole, and `file_stamp` tells it from its next
// version.
#pragma once

#include "gateway/policy/plan_section.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace gateway::config {

// `file_stamp` changes when a file does, or when another file takes its place. All zero: there is
// none.
struct file_stamp {
    std::uint64_t device = 0;
    std::uint64_t number = 0;
    std::int64_t size = 0;
    // Times of the last write, and of the last change of anything.
    // Units: nanoseconds since the epoch.
    std::int64_t written = 0;
    std::int64_t changed = 0;

    bool operator==(const file_stamp&) const = default;
};

file_stamp stamp_of(const std::string& path);

struct plan_file {
    // Members of the plans. Null: the file could not be read.
    std::shared_ptr<const policy::plan_table> members{};
    // Stamp from before the file was read, or could not be, so that a write during the read counts
    // as a change.
    file_stamp stamp{};
    // Reason why it could not be read: one line for a person, which names file and line.
    std::string complaint{};
};

// Reads a plan file. A million lines take about half a second.
// Thread: any.
plan_file read_plan_file(const std::string& path, const policy::key_part& part);

}  // namespace gateway::config
