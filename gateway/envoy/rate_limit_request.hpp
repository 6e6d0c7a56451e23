// `rate_limit_request` is what Envoy asks a rate-limit service: the message
// envoy.service.ratelimit.v3.RateLimitRequest, decoded. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace gateway::envoy {

// Bounds of a message. A value may be a whole header of a client's request, and a request that is
// refused here passes unless Envoy's failure_mode_deny says otherwise. So they are wider than what
// Envoy accepts of a client by default, which is 60 KiB of headers.
inline constexpr std::size_t max_request_bytes = std::size_t{256} * 1024;
inline constexpr std::size_t max_descriptors = 64;
inline constexpr std::size_t max_entries = 32;
inline constexpr std::size_t max_key_bytes = 256;
inline constexpr std::size_t max_value_bytes = std::size_t{64} * 1024;

// One key and value of a descriptor. Both are any bytes: a value may be a client's header, and one
// that is not UTF-8 must not make a request undecidable.
struct descriptor_entry {
    // Never empty.
    std::string_view key;
    std::string_view value;

    bool operator==(const descriptor_entry&) const = default;
};

// Units of time, by their numbers in envoy.type.v3.RateLimitUnit.
enum class time_unit : std::uint8_t {
    unknown = 0,
    second = 1,
    minute = 2,
    hour = 3,
    day = 4,
    month = 5,
    year = 6,
    week = 7,
};

// The numbers that a descriptor brings along, instead of those that are configured.
struct rate_override {
    std::uint32_t requests_per_unit = 0;
    // A number outside time_unit is read as `unknown`.
    time_unit unit = time_unit::unknown;

    bool operator==(const rate_override&) const = default;
};

struct descriptor {
    // Index of its first entry, and their number, which is at least 1.
    std::size_t first_entry = 0;
    std::size_t entry_count = 0;
    std::optional<rate_override> limit{};
    // Hits of this descriptor alone; nothing: those of the request.
    std::optional<std::uint64_t> hits{};
    // True if its hits are to be given back (`is_negative_hits`).
    bool refunds = false;
};

// Ownership: it views into the message.
struct rate_limit_request {
    std::string_view domain;
    std::vector<descriptor> descriptors;
    // The entries of all descriptors, one after the other.
    std::vector<descriptor_entry> entries;
    // 0: the message states none, which means 1.
    std::uint32_t hits_addend = 0;

    // Forgets the last message, and keeps the memory.
    void clear()
    {
        domain = {};
        descriptors.clear();
        entries.clear();
        hits_addend = 0;
    }

    std::span<const descriptor_entry> entries_of(const descriptor& d) const
    {
        return std::span{entries}.subspan(d.first_entry, d.entry_count);
    }

    // Returns the hits that a descriptor adds to each of its limits.
    std::uint64_t hits_of(const descriptor& d) const
    {
        return d.hits.value_or(hits_addend == 0 ? 1 : hits_addend);
    }
};

// Decodes a message. Returns why it is none, in a clause for people, or an empty text. Fields that
// are unknown are passed over, and of a field that occurs twice the last one counts, as protobuf
// has it. Groups are refused, which proto3 does not have.
// Ownership: `out` views into `message`.
[[nodiscard]] std::string_view decode(std::string_view message, rate_limit_request& out);

}  // namespace gateway::envoy
