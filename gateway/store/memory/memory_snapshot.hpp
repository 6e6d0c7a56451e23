// `save_snapshot` and `restore_snapshot` keep the local store in a file from one process to the
// next.
#pragma once

#include "gateway/base/clock.hpp"
#include "gateway/store/memory/memory_store.hpp"

#include <cstddef>
#include <optional>
#include <string>

namespace gateway::store {

// Writes the file anew. Returns why it could not; the file that was there before then stays.
std::optional<std::string> save_snapshot(const memory_store& s, const std::string& path);

struct restored {
    // Reason why the file is of no use, as words that follow its name. Empty if all is well.
    std::string complaint{};
    std::size_t buckets = 0;
    // Number of buckets for which the table has no room.
    std::size_t lost = 0;
    // Time since the file was written, by the clock it was written with; not below zero.
    base::duration ago{0};
};

// Fills the store from the file, as of now: the time since the file was written counts. Returns
// nothing if there is no file.
// Requires: a store that nobody has used yet, and no name hashed yet.
std::optional<restored> restore_snapshot(memory_store& s, const std::string& path);

// These functions hand the store from a process to the next one on this machine, in a file without
// a name (memfd_create(2)). Permits of requests in flight go along, and time is that of the
// monotonic clock. They return what save_snapshot() and restore_snapshot() return.
std::optional<std::string> hand_over(const memory_store& s, int file);
std::optional<restored> take_over(memory_store& s, int file);

}  // namespace gateway::store
