// When to stop asking a store that fails, and when to begin again. Pure: time is an argument.
//
// Opens after some failures in a row, or when half of enough decisions within the window failed
// (breaker_options). While it is open nobody asks but the prober; its first success closes. Counts
// are zero then.
#pragma once

#include "gateway/base/clock.hpp"
#include "gateway/store/options.hpp"
#include "gateway/store/store.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace gateway::store {

class breaker_state {
public:
    explicit breaker_state(const breaker_options& options)
        : options_(options), part_length_(options.window / part_count)
    {}

    bool open() const { return open_; }

    // True if this failure opened it. Only failures of the store as a whole count: not those of one
    // key, of our configuration, or of our own making.
    bool failed(failure why, base::instant now);
    void succeeded(base::instant now);

    // A probe succeeded: closes the breaker.
    void probe_succeeded();

    // How long to wait before the next probe: two thirds of the longest pause and more; `random`
    // in [0, 1) keeps workers from probing at once.
    base::duration pause(double random) const;

    static bool counts(failure why);

private:
    static constexpr std::size_t part_count = 10;

    struct part {
        // The number of the part of time it counts.
        std::int64_t number = -1;

        std::uint32_t good = 0;
        std::uint32_t bad = 0;
    };

    breaker_options options_;
    base::duration part_length_;
    bool open_ = false;
    std::uint32_t in_a_row_ = 0;
    std::array<part, part_count> parts_{};

    std::int64_t part_number(base::instant now) const;
    part& part_at(base::instant now);
    bool half_failed(base::instant now) const;
};

}  // namespace gateway::store
