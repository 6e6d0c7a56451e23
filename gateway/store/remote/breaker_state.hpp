// `breaker_state` decides when a failing store is no longer asked, and when it is asked again.
// Pure: time is an argument.
//
// It opens after some failures in a row, or when half of enough decisions within the window failed
// (breaker_options). While it is open only a probe asks. The first probe that succeeds closes it,
// and sets all counts to zero.
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

    // Counts a failure. Returns true if it opened the breaker. Only failures of the store as a
    // whole count: not those of one key, of the configuration, or of this process.
    bool failed(failure why, base::instant now);
    void succeeded(base::instant now);

    // Closes the breaker, as a probe has succeeded.
    void probe_succeeded();

    // Returns the pause before the next probe: at least two thirds of the longest pause. `random`,
    // in [0, 1), keeps workers from probing at the same time.
    base::duration pause(double random) const;

    static bool counts(failure why);

private:
    static constexpr std::size_t part_count = 10;

    struct part {
        // Number of the part of time that is counted here: the time since the epoch, divided by the
        // length of a part.
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
