// `known_bans` keeps the bans that one worker knows of: those that the admin API made through it,
// and those of buckets whose requests it has rejected since. A store finds a bucket by a hash of
// its name, so the names are kept here.
//
// Memory is bounded: while there is no room for one more, it is left out. A ban may be over before
// the time that is known here, so a list of bans has to ask the store. Time is an argument.
// Thread: one thread only.
#pragma once

#include "gateway/base/clock.hpp"
#include "gateway/base/hash.hpp"
#include "gateway/base/hashed_name.hpp"

#include <cstddef>
#include <string>
#include <unordered_map>
#include <vector>

namespace gateway::limits {

class known_bans {
public:
    static constexpr std::size_t most = 1024;
    // Longest name that is kept, in bytes. A bucket with a longer name is left out.
    static constexpr std::size_t longest_name = 512;

    struct ban {
        // The bytes of identity::bucket_name.
        std::string name{};
        base::instant until{};
    };

    // Notes that the bucket is banned until then, whatever was known of it.
    void note(const base::hashed_name& bucket, base::instant until, base::instant now);

    // Returns the bans that are not over, in no order.
    std::vector<ban> all(base::instant now) const;

    // True if a ban that is not over may have been left out.
    bool leaves_out(base::instant now) const { return now < left_out_until_; }

private:
    std::unordered_map<base::hash128, ban, base::hash128_hash> bans_;
    // Earliest moment to look for bans that are over, as a look takes a while.
    base::instant next_look_{};
    // The latest end of a ban that was left out.
    base::instant left_out_until_{};

    bool make_room(base::instant now);
};

// Merges what several workers know: each bucket once, the latest end first.
std::vector<known_bans::ban> merged(const std::vector<known_bans::ban>& of);

}  // namespace gateway::limits
