// Buckets that are split in parts (limit::limit::split), so that the requests of many clients do
// not all meet at one place of a store. A request takes from one part: the fuller of two random
// ones, by what was last heard of them here.
//
// So one part is charged and no other is asked: it works alike in every store, and costs no round
// trip. What was heard may be old, as others take from the part too; that leads to a rejection
// while another part has tokens, and never to a token too many.
//
// Memory is fixed: one place for a part, found by a keyed hash of the bucket's name; the latest
// that comes has it. A part of which nothing is known is taken for full. One thread. Time is an
// argument.
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

// Makes the name of a bucket that of its part `number` of `count`.
void name_part(identity::bucket_name& name, std::size_t number, std::size_t count);

// What a part said, told of the whole bucket: as if all its parts were as full as this one.
limit::decision told_of_whole(
    const limit::decision& said, const limit::limit& part, const limit::limit& whole
);

class bucket_parts {
public:
    static constexpr std::size_t places = 8192;

    struct part {
        // Of limit::parts().
        std::size_t number = 0;
        // Of the bucket's name and the number.
        base::hash128 id{};
    };

    bucket_parts() : bucket_parts(base::random_hash_key()) {}

    // The same key makes the same choices.
    explicit bucket_parts(const base::hash_key& key) : key_(key), random_(key[0]) {}

    // The part that a request takes `cost` tokens from.
    part choose(
        std::string_view bucket_name,
        const limit::limit& whole,
        std::int64_t cost,
        base::instant now
    );

    // What the store said of it.
    void heard(const part& of, const limit::decision& said, base::instant now);

private:
    struct place {
        std::uint64_t id = 0;
        std::int64_t remaining = 0;
        base::instant full_at{};
    };

    base::hash_key key_;
    std::mt19937_64 random_;
    // Empty until a bucket is split.
    std::vector<place> places_;

    place& place_of(const part& p) { return places_[p.id.low % places]; }
};

}  // namespace gateway::limits
