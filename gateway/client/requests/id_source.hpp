// `id_source` makes the ids of a worker's requests, and of traces that start anew. They are unique,
// but no secrets. Making one reads no clock and allocates no memory.
// Thread: one thread only.
#pragma once

#include "gateway/base/uuid.hpp"
#include "gateway/http/trace_parent.hpp"

#include <random>

namespace gateway::client {

class id_source {
public:
    // `now` is the moment at which the Unix time is `unix_time`.
    id_source(base::duration unix_time, base::instant now) : random_(make_random())
    {
        set_clock(unix_time, now);
    }

    // Sets the Unix time. Called again on each tick, as the wall clock may be set.
    void set_clock(base::duration unix_time, base::instant now)
    {
        began_ = unix_time - now.time_since_epoch();
    }

    base::uuid_text request_id(base::instant now)
    {
        const std::uint64_t random = random_();
        return base::make_uuid7(began_ + now.time_since_epoch(), random, random_());
    }

    std::uint64_t random() { return random_(); }

    http::trace_parent_text trace_parent()
    {
        const std::uint64_t trace = random_();
        const std::uint64_t rest = random_();
        return http::make_trace_parent(trace, rest, random_());
    }

private:
    std::mt19937_64 random_;
    // Unix time at the monotonic clock's zero.
    base::duration began_{0};

    static std::mt19937_64 make_random()
    {
        std::random_device device;
        std::seed_seq seed{device(), device(), device(), device(), device(), device()};
        return std::mt19937_64{seed};
    }
};

}  // namespace gateway::client
