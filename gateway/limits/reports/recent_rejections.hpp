// `recent_rejections` keeps the last requests that the limits of one worker have refused. The admin
// API collects them. Memory is bounded, and a rejection copies its texts into one block of memory
// that the ring has already: a string for each of them took seven times as long.
// Thread: one thread only.
#pragma once

#include "gateway/base/clock.hpp"
#include "gateway/base/ip_address.hpp"
#include "gateway/telemetry/metrics.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace gateway::limits {

// `rejection` is one refused request. `Text` is std::string_view for one that is to be kept, and
// std::string for one that is.
template <typename Text>
struct rejection_of {
    // The moment at which it was answered.
    base::instant at{};
    telemetry::refusal_reason why{};
    Text route{};
    // The limit that decided.
    Text limit{};
    base::ip_address client{};
    // The bytes of identity::bucket_name, which may be secret; empty if there is none, or if it is
    // longer than recent_rejections::longest_name.
    Text bucket_name{};
    // Wait that the client was told; 0: none.
    base::duration retry_after{0};
    Text request_id{};
    // The request without its query.
    Text method{};
    Text host{};
    Text path{};
};

using rejection = rejection_of<std::string>;

class recent_rejections {
public:
    static constexpr std::size_t most = 200;
    // Longest name of a bucket, and longest other text, in bytes. A longer name is left out, a
    // longer text is cut.
    static constexpr std::size_t longest_name = 512;
    static constexpr std::size_t longest_text = 256;

    void add(const rejection_of<std::string_view>& r);

    // Returns how many were added since the worker began.
    std::uint64_t count() const { return count_; }

    // Returns those after the first `seen`, the oldest first, as far as they are still kept.
    std::vector<rejection> after(std::uint64_t seen) const;

private:
    static constexpr std::size_t texts = 7;

    // `slot` is a rejection with its texts one behind the other.
    struct slot {
        base::instant at;
        base::duration retry_after;
        base::ip_address client;
        telemetry::refusal_reason why;
        std::array<std::uint16_t, texts> sizes;
        std::array<char, longest_name + (texts - 1) * longest_text> bytes;
    };

    std::uint64_t count_ = 0;
    // The rejection of number n is at n % most.
    std::vector<std::unique_ptr<slot>> kept_;

    static rejection read(const slot& s);
};

}  // namespace gateway::limits
