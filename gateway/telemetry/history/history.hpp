// `history` keeps the last ten minutes, a second at a time, in bounded memory. It is filled whether
// or not anybody looks. Pure: time is an argument.
#pragma once

#include "gateway/telemetry/history/second.hpp"
#include "gateway/telemetry/history/totals.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gateway::telemetry {

class history {
public:
    // Number of seconds that are kept.
    static constexpr std::size_t length = 600;
    // Most limits, most upstreams and most stores that the kept seconds tell apart. Others count in
    // the sums of all requests only.
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

    std::string_view limit_name(const limit_second& s) const { return limits_[s.name].text; }

    std::string_view upstream_name(const upstream_second& s) const
    {
        return upstreams_[s.name].text;
    }

    std::string_view store_name(const store_second& s) const { return stores_[s.name].text; }

private:
    // `known_name` is a name with the number of the last second that has it.
    struct known_name {
        std::string text;
        std::uint64_t used = 0;
    };

    std::deque<second> seconds_{};
    std::uint64_t number_ = 0;
    totals last_;
    std::vector<known_name> limits_{};
    std::vector<known_name> upstreams_{};
    std::vector<known_name> stores_{};

    std::optional<std::size_t> index_of(std::string_view name, std::vector<known_name>& names)
        const;

    // Appends a second of each name that has one.
    template <typename Totals, typename Second>
    void add_named(
        const named<Totals>& now,
        const named<Totals>& before,
        std::vector<known_name>& names,
        std::vector<Second>& to
    ) const;
};

}  // namespace gateway::telemetry
