// The bans that one worker knows of: those that it was told of, and those of buckets whose requests
// it has rejected since. A store finds a bucket by a hash of its name, so the names are kept here.
//
// Memory is bounded: while there is no room for one more, it is left out. A ban may be over before
// the time that is known here: whoever lists bans asks the store. One thread. Time is an argument.
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
    // A bucket with a longer name is left out.
    static constexpr std::size_t longest_name = 512;

    struct ban {
        // The bytes of identity::bucket_name.
        std::string name{};
        base::instant until{};
    };

    // The bucket is banned until then, whatever was known of it.
    void note(const base::hashed_name& bucket, base::instant until, base::instant now);

    // Those that are not over, in no order.
    std::vector<ban> all(base::instant now) const;

    // True if a ban that is not over may have been left out.
    bool leaves_out(base::instant now) const { return now < left_out_until_; }

private:
    std::unordered_map<base::hash128, ban, base::hash128_hash> bans_;
    // Those that are over are looked for no earlier than that, as it takes a while.
    base::instant next_look_{};
    // The latest end of a ban that was left out.
    base::instant left_out_until_{};

    bool make_room(base::instant now);
};

// Merges what several workers know: each bucket once, the latest end first.
std::vector<known_bans::ban> merged(const std::vector<known_bans::ban>& of);

}  // namespace gateway::limits
