// The buckets that are counted most often, in bounded memory: Space-Saving (Metwally, Agrawal, El
// Abbadi 2005: "Efficient Computation of Frequent and Top-k Elements in Data Streams"). Whoever is
// not among the 256 takes the place of the least of them, with its count and one more: so a count
// is never too low, too high by at most its `error`, and no error is above a 256th of all.
//
// What one costs: a probe of a table of 16-bit indices, and at most 8 swaps in
// a heap of them; a name that is new is copied. That is 20 to 45 ns where most names are known, and
// 0.3 us where hardly any is (100,000 clients that all ask as often). One thread.
#pragma once

#include "gateway/base/hashed_name.hpp"
#include "gateway/limits/known_bans.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace gateway::limits {

class heavy_hitters {
public:
    static constexpr std::size_t places = 256;
    // Of a longer name only its digest is kept.
    static constexpr std::size_t longest_name = 512;

    struct hitter {
        // The bytes of identity::bucket_name; of a digest, the limit's name and the
        // base::sha256_hex128 of these bytes.
        std::string name{};
        bool is_digest = false;
        // Not below the truth.
        std::uint64_t count = 0;
        // Above it by this at most.
        std::uint64_t error = 0;
    };

    heavy_hitters();

    void count(const base::hashed_name& bucket);

    // Of all names.
    std::uint64_t total() const { return total_; }

    // In no order.
    std::vector<hitter> all() const;

private:
    using index = std::uint16_t;

    static constexpr std::size_t slots = 4 * places;
    static constexpr index none = 0xffff;

    struct place {
        // Without its count.
        hitter what;
        base::hash128 id;
    };

    // The counts lie together: on the way through the heap nothing else is read.
    struct node {
        std::uint64_t count = 0;
        index place = 0;
    };

    std::uint64_t total_ = 0;
    std::size_t used_ = 0;
    std::unique_ptr<std::array<place, places>> places_;
    // The least first: no child counts less than its parent.
    std::array<node, places> heap_{};
    // [i] is where places_[i] is in the heap.
    std::array<index, places> at_{};
    // Indices of places by hash, open addressing.
    std::array<index, slots> table_;

    std::size_t slot_of(const base::hash128& id) const;
    void forget(const base::hash128& id);

    void exchange(std::size_t a, std::size_t b);
    void rise(std::size_t at);
    void sink(std::size_t at);
    index free_place();
};

// The buckets that one worker tells of, under all its limits.
struct top_buckets {
    heavy_hitters by_requests;
    // Those of limits in shadow mode as well.
    heavy_hitters by_rejections;
    known_bans banned;
};

// What several have counted, together: each name once, most often counted first. A name that one
// of them does not know may have been counted there as often as its least.
std::vector<heavy_hitters::hitter> merged(const std::vector<std::vector<heavy_hitters::hitter>>& of
);

}  // namespace gateway::limits
