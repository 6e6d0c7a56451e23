// `tally` counts judgements, for all requests and for each limit.
// Thread: one thread only.
#pragma once

#include "gateway/replay/candidate.hpp"
#include "gateway/replay/client_name.hpp"
#include "gateway/replay/result.hpp"

#include <memory>
#include <utility>
#include <vector>

namespace gateway::replay {

class tally {
public:
    // Number of clients in a result.
    static constexpr std::size_t shown_clients = 50;

    // Keeps arrivals for suggestions if `keeps_arrivals`, those of `most_buckets` for each limit.
    // Ownership: both references outlive this object.
    tally(
        const candidate& of,
        const wanted_parts& wanted,
        bool keeps_arrivals,
        std::size_t most_buckets
    );

    void add(const logged_request& r, const judgement& j);

    // Returns the counts, with suggestions if arrivals were kept.
    replay_result finish(const accepted_loss& accepted);

private:
    struct limit_tally {
        client_name name;
        limit_result counts{};
        client_counts clients{};
        // Facts that were known of requests which could not be judged, and the number of these.
        std::vector<std::pair<part_set, std::uint64_t>> unknown{};
        std::unique_ptr<arrivals> arrived{};
    };

    const candidate& candidate_;
    std::vector<limit_tally> limits_;
    // Gaps of requests without a certain route, and the number of these.
    std::vector<std::pair<route_gap, std::uint64_t>> gaps_;
    replay_result result_;

    void add_to_limit(const limit_judgement& l, const logged_request& r, const judgement& j);
    void finish_limit(std::size_t index, const accepted_loss& accepted);
};

// `comparison` compares the candidate's judgements with other verdicts.
class comparison {
public:
    // Compares two verdicts on a request of the client.
    void add(verdict before, verdict now, const base::ip_address& client, base::duration at);

    difference finish() const;

private:
    difference counts_;
    client_counts clients_;
};

}  // namespace gateway::replay
