// `history` keeps the last ten minutes, a second at a time, in bounded memory. It is filled whether
// or not anybody looks. Pure: time is an argument.
#pragma once

#include "gateway/telemetry/history/second.hpp"
#include "gateway/telemetry/history/totals.hpp"

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace gateway::telemetry {

class history {
public:
    // Number of seconds that are kept.
    static constexpr std::size_t length = 600;
    // Most limits, most upstreams and most stores that are kept apart. Others count in the sums of
    // all requests only.
    static constexpr std::size_t most_names = 128;

    // Begins with what was counted before, which belongs to no second.
    explicit history(totals before) : last_(std::move(before)) {}

    // Adds the second that ends now, at the Unix time `at`.
    void add(totals now, base::duration at);

    // Returns the seconds that are kept, the oldest first.
    const std::deque<second>& seconds() const { return seconds_; }

    // Returns the number of the last second; 0: there is none yet.
    std::uint64_t last_number() const { return number_; }

    // Returns what was counted up to the end of the last second.
    const totals& last() const { return last_; }

    std::string_view limit_name(const limit_second& s) const { return limits_[s.name]; }

    std::string_view upstream_name(const upstream_second& s) const { return upstreams_[s.name]; }

    std::string_view store_name(const store_second& s) const { return stores_[s.name]; }

private:
    std::deque<second> seconds_{};
    std::uint64_t number_ = 0;
    totals last_;
    std::vector<std::string> limits_{};
    std::vector<std::string> upstreams_{};
    std::vector<std::string> stores_{};
};

}  // namespace gateway::telemetry
