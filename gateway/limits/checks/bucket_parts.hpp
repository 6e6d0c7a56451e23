// `bucket_parts` chooses which part of a split bucket (limit::limit::split) a request takes from,
// so that the requests of many clients do not all meet at one bucket of a store. It chooses the
// fuller of two random parts, by what was last heard of them here.
//
// Only one part is charged and no other is asked, so this works alike in every store and costs no
// round trip. An answer may be old, as others take from the part too. An old one can lead to a
// rejection while another part has tokens, but never to a token too many.
//
// Memory is fixed: one slot for a part, found by a keyed hash of the bucket's name. The latest part
// that needs a slot has it. A part of which nothing is known is taken for full. Time is an
// argument.
// Thread: one thread only.
#pragma once

#include "gateway/base/clock.hpp"
#include "gateway/base/hash.hpp"
#include "gateway/identity/bucket_name.hpp"
#include "gateway/limit/decision.hpp"
#include "gateway/limit/limit.hpp"

#include <cstddef>
#include <cstdint>
#include <random>
#include <string_view>
#include <vector>

namespace gateway::limits {

// Turns the name of a bucket into that of its part `number` of `count`.
void name_part(identity::bucket_name& name, std::size_t number, std::size_t count);

// Returns a part's decision in terms of the whole bucket, as if all its parts were as full as this
// one.
limit::decision scaled_to_whole(
    const limit::decision& decision, const limit::limit& part, const limit::limit& whole
);

class bucket_parts {
public:
    static constexpr std::size_t slots = 8192;

    struct part {
        // Index of limit::parts().
        std::size_t number = 0;
        // Hash of the bucket's name, with the number added.
        base::hash128 id{};
    };

    bucket_parts() : bucket_parts(base::random_hash_key()) {}

    // Creates an object that makes the same choices for the same key.
    explicit bucket_parts(const base::hash_key& key) : key_(key), random_(key[0]) {}

    // Returns the part that a request takes `cost` tokens from.
    part choose(
        std::string_view bucket_name,
        const limit::limit& whole,
        std::int64_t cost,
        base::instant now
    );

    // Remembers the store's decision on a part.
    void heard(const part& of, const limit::decision& decision, base::instant now);

private:
    struct slot {
        std::uint64_t id = 0;
        std::int64_t remaining = 0;
        base::instant full_at{};
    };

    base::hash_key key_;
    std::mt19937_64 random_;
    // Slots of the parts; empty until a part of a bucket is chosen.
    std::vector<slot> slots_;

    slot& slot_of(const part& p) { return slots_[p.id.low % slots]; }
};

}  // namespace gateway::limits
