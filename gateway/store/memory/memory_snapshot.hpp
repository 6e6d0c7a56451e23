// The local store in a file, from one process to the next.
#pragma once

#include "gateway/base/clock.hpp"
#include "gateway/store/memory/memory_store.hpp"

#include <cstddef>
#include <optional>
#include <string>

namespace gateway::store {

// Writes the file anew; or why it could not, and the one before stays.
std::optional<std::string> save_snapshot(const memory_store& s, const std::string& path);

struct restored {
    // Why the file is of no use, as words that follow its name; empty: all is well.
    std::string complaint{};
    std::size_t buckets = 0;
    // Those for which the table has no room any more.
    std::size_t lost = 0;
    // How long ago it was written, by the wall clock; not below zero.
    base::duration ago{0};
};

// Fills a store that nobody has used yet, before any name is hashed. The time since the file was
// written counts. Nothing: there is no file.
std::optional<restored> restore_snapshot(memory_store& s, const std::string& path);

// The same from a process to the one that follows it on this machine, by a file that has no name
// (memfd_create(2)): requests in flight go along, and time is that of the monotonic clock.
std::optional<std::string> hand_over(const memory_store& s, int file);
std::optional<restored> take_over(memory_store& s, int file);

}  // namespace gateway::store
