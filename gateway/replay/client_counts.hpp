// `client_counts` counts the requests of each client under one limit, in bounded memory. While
// there are no more clients than it has room for, counts are exact. Beyond that it forgets the half
// of the clients that have the fewest requests, so that those with many stay. Thread: one thread
// only.
#pragma once

#include "gateway/base/clock.hpp"
#include "gateway/base/hash.hpp"

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace gateway::replay {

struct client_count {
    std::string client;
    std::uint64_t allowed = 0;
    std::uint64_t rejected = 0;
    // Moments of the first and the last rejection, in Unix time; 0: there was none.
    base::duration first_rejected{0};
    base::duration last_rejected{0};
};

class client_counts {
public:
    // Most clients that are counted.
    static constexpr std::size_t most = 131'072;

    // Counts a request of the client with this hash. `name` returns its text, and is called if the
    // client is new here.
    template <typename Name>
    void add(const base::hash128& client, bool rejected, base::duration at, Name name)
    {
        const auto [found, is_new] = all_.try_emplace(client);
        client_count& c = found->second;
        if (is_new) {
            c.client = name();
        }
        if (!rejected) {
            ++c.allowed;
        } else {
            c.first_rejected = c.rejected == 0 ? at : c.first_rejected;
            c.last_rejected = at;
            ++c.rejected;
        }
        if (all_.size() > most) {
            forget_half();
        }
    }

    // Returns the clients with the most rejections, and then with the most requests, at most
    // `count` of them, the first one in front.
    std::vector<client_count> busiest(std::size_t count) const;

    // Returns the number of clients, and of those that were rejected. If some were forgotten, these
    // are those that are left.
    std::size_t size() const { return all_.size(); }

    std::size_t rejected() const;

    // True if clients were forgotten.
    bool is_partial() const { return forgotten_; }

private:
    std::unordered_map<base::hash128, client_count, base::hash128_hash> all_;
    bool forgotten_ = false;

    void forget_half();
};

}  // namespace gateway::replay
