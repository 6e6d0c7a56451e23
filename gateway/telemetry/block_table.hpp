// `table` holds the registry's blocks: one table for each kind of thing, a row for each name, and
// in it one block per worker. Guarded by the registry's lock, which the numbers inside the blocks
// do not need.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gateway::telemetry {

// `block` is one worker's metrics on cache lines of its own: two workers never write to the same
// line.
template <typename T>
struct alignas(64) block {
    T metrics;

    // True if a worker has asked for the block in order to write to it.
    bool asked = false;
};

// Every worker's block of one name. The vector is made once at full length, so blocks never move.
template <typename T>
using row = std::vector<block<T>>;

template <typename T>
using table = std::map<std::string, row<T>, std::less<>>;

// A table of things that have a name only beside the name of another thing.
template <typename T>
using pair_table = std::map<std::pair<std::string, std::string>, row<T>>;

template <typename Table, typename Name>
auto& find_block(Table& all, const Name& name, std::size_t worker, std::size_t workers)
{
    auto found = all.find(name);
    if (found == all.end()) {
        found = all.emplace(typename Table::key_type(name), workers).first;
    }
    auto& mine = found->second.at(worker);
    mine.asked = true;
    return mine.metrics;
}

}  // namespace gateway::telemetry
