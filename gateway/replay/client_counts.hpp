// `client_counts` counts the requests of each client under one limit, in bounded memory. While
// there are no more clients than it has room for, counts are exact. Beyond that it forgets the half
// of the clients that have the fewest requests, so that those with many stay.
// Thread: one thread only.
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

    client_counts() : slots_(first_slots) {}

    // Counts a request of the client with this hash. `name` returns its text, and is called if the
    // client is new here.
    template <typename Name>
    void add(const base::hash128& client, bool rejected, base::duration at, Name name)
    {
        counted* c = &slot_of(client);
        if (c->total() == 0) {
            if (names_.size() == most) {
                forget_half();
            } else if (2 * (names_.size() + 1) > slots_.size()) {
                rehash(2 * slots_.size());
            }
            c = &slot_of(client);
            c->client = client;
            c->name = static_cast<std::uint32_t>(names_.size());
            names_.push_back(name());
        }
        if (!rejected) {
            ++c->allowed;
        } else {
            c->first_rejected = c->rejected == 0 ? at : c->first_rejected;
            c->last_rejected = at;
            ++c->rejected;
        }
    }

    // Returns the clients with the most rejections, and then with the most requests, at most
    // `count` of them, the first one in front.
    std::vector<client_count> busiest(std::size_t count) const;

    // Returns the number of clients, and of those that were rejected. If some were forgotten, these
    // are those that are left.
    std::size_t size() const { return names_.size(); }

    std::size_t rejected() const;

    // True if clients were forgotten.
    bool is_partial() const { return forgotten_; }

private:
    static constexpr std::size_t first_slots = 1024;

    // `counted` is a slot with what is counted of one client; a slot without counts is empty.
    struct counted {
        base::hash128 client{};
        std::uint64_t allowed = 0;
        std::uint64_t rejected = 0;
        base::duration first_rejected{0};
        base::duration last_rejected{0};
        // Index of its name, which lies apart, as it is rarely read.
        std::uint32_t name = 0;

        std::uint64_t total() const { return allowed + rejected; }
    };

    // Slots found by hash, with open addressing. Their number is a power of two, at least twice
    // that of the clients.
    std::vector<counted> slots_;
    std::vector<std::string> names_;
    bool forgotten_ = false;

    // Returns the slot that the client has, or would have.
    counted& slot_of(const base::hash128& client)
    {
        std::size_t slot = client.low & (slots_.size() - 1);
        while (slots_[slot].total() > 0 && !(slots_[slot].client == client)) {
            slot = (slot + 1) & (slots_.size() - 1);
        }
        return slots_[slot];
    }

    void rehash(std::size_t slots);
    void forget_half();
};

}  // namespace gateway::replay
