// `bucket_id` identifies a bucket in memory: 96 bits of the keyed hash of its name. Two names never
// have the same id in practice.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gateway::store {

struct bucket_id {
    std::uint64_t low = 0;
    std::uint32_t high = 0;

    bool operator==(const bucket_id&) const = default;
};

struct bucket_id_hash {
    std::size_t operator()(const bucket_id& id) const { return id.low; }
};

}  // namespace gateway::store
