// `client_counts` counts the requests of each client under one limit, in bounded memory. While
// there are no more clients than it has room for, counts are exact. Beyond that it forgets the half
// of the clients that have the fewest requests, so that those with many stay. Thread: one thread
// only.
#pragma once

#include "gateway/base/clock.hpp"
#include "gateway/base/hash.hpp"

#include <cstdint>
#include <string>
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

    client_counts() : slots_(first_slots, none) {}

    // Counts a request of the client with this hash. `name` returns its text, and is called if the
    // client is new here.
    template <typename Name>
    void add(const base::hash128& client, bool rejected, base::duration at, Name name)
    {
        std::size_t slot = slot_of(client);
        if (slots_[slot] == none) {
            slots_[slot] = static_cast<std::uint32_t>(all_.size());
            all_.push_back({.client = client});
            names_.push_back(name());
            if (all_.size() > most) {
                forget_half();
                // Its own count is among the least, so that it may be gone.
                return;
            }
            if (2 * all_.size() > slots_.size()) {
                index(2 * slots_.size());
            }
            slot = slot_of(client);
        }
        counted& c = all_[slots_[slot]];
        if (!rejected) {
            ++c.allowed;
        } else {
            c.first_rejected = c.rejected == 0 ? at : c.first_rejected;
            c.last_rejected = at;
            ++c.rejected;
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
    static constexpr std::uint32_t none = static_cast<std::uint32_t>(-1);
    static constexpr std::size_t first_slots = 1024;

    // `counted` is what is counted of one client. Its name lies apart, as it is rarely read.
    struct counted {
        base::hash128 client{};
        std::uint64_t allowed = 0;
        std::uint64_t rejected = 0;
        base::duration first_rejected{0};
        base::duration last_rejected{0};

        std::uint64_t total() const { return allowed + rejected; }
    };

    std::vector<counted> all_;
    // [i] is the name of all_[i].
    std::vector<std::string> names_;
    // Indices of `all_` by hash, with open addressing. A power of two, at least twice as many.
    std::vector<std::uint32_t> slots_;
    bool forgotten_ = false;

    std::size_t slot_of(const base::hash128& client) const
    {
        std::size_t slot = client.low & (slots_.size() - 1);
        while (slots_[slot] != none && !(all_[slots_[slot]].client == client)) {
            slot = (slot + 1) & (slots_.size() - 1);
        }
        return slot;
    }

    void index(std::size_t slots);
    void forget_half();
};

}  // namespace gateway::replay
