// When to stop asking a store that fails, and when to begin again. Pure: time is an argument.
//
// Opens after `failures_in_a_row`, or when half of at least `least_decisions` in one second failed.
// While it is open nobody asks but the prober; its first success closes. Counts are zero then.
#pragma once

#include "gateway/base/clock.hpp"
#include "gateway/store/store.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace gateway::store {

class breaker_state {
public:
    static constexpr int failures_in_a_row = 5;
    static constexpr std::uint32_t least_decisions = 20;
    static constexpr base::duration window = std::chrono::seconds{1};
    static constexpr base::duration shortest_pause = std::chrono::milliseconds{300};
    static constexpr base::duration longest_pause = std::chrono::milliseconds{450};

    bool open() const { return open_; }

    // True if this failure opened it. Only failures of the store as a whole count: not those of one
    // key, of our configuration, or of our own making.
    bool failed(failure why, base::instant now);
    void succeeded(base::instant now);
    void probe_succeeded();  // closes

    // How long to wait before the next probe; `random` in [0, 1) keeps workers from probing at
    // once.
    static base::duration pause(double random);

    static bool counts(failure why);

private:
    static constexpr std::size_t part_count = 10;
    static constexpr base::duration part_length = window / part_count;

    struct part {
        std::int64_t number = -1;  // of the part of time it counts
        std::uint32_t good = 0;
        std::uint32_t bad = 0;
    };

    bool open_ = false;
    int in_a_row_ = 0;
    std::array<part, part_count> parts_{};

    part& part_at(base::instant now);
    bool half_failed(base::instant now) const;
};

}  // namespace gateway::store
