// Questions about buckets that were handed over to the process that follows. This process keeps a
// copy of each bucket, decides by it, and asks that process to put the outcome in the place of what
// it was decided by. If the bucket is another one there by now, that one comes back, and the
// decision is made again: so both decide by the same buckets, one after the other. A bucket for
// which one of the two has no room is left out, and each decides about its client for itself.
#pragma once

#include "gateway/store/memory/memory_records.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace gateway::store {

// The locks of the segments of some buckets, taken in order.
class segment_locks {
public:
    segment_locks(memory_table& table, std::span<const bucket_id> ids);
    ~segment_locks();
    segment_locks(const segment_locks&) = delete;
    segment_locks& operator=(const segment_locks&) = delete;

private:
    memory_table& table_;
    std::vector<std::size_t> locked_;
};

// A question in the process that had the buckets: one request, or two.
class bucket_swap {
public:
    bucket_swap(memory_parts& parts, std::span<const charge> charges, base::instant now);

    // Changes the copies here.
    template <typename Change>
    void decide(Change change)
    {
        before_ = copies();
        change();
        write_request();
    }

    std::string_view request() const { return request_.bytes(); }

    // False: decide again, as other buckets came back, or one is left out from now on.
    bool settle(std::string_view answer);

private:
    memory_parts& parts_;
    // Those that both processes have room for, as far as is known.
    std::vector<bucket_id> ids_;
    std::int64_t now_;
    // What was known of these before.
    std::vector<std::string> before_;
    snapshot_bytes request_;

    std::vector<std::string> copies() const;
    void write_request();
};

// In the process that has the buckets: answers such requests. One thread.
class swap_desk {
public:
    explicit swap_desk(memory_parts& parts) : parts_(parts) {}

    // The buckets have just come: all places of requests in flight are those of the other process.
    void begin();

    // If other buckets go back, nobody else changes them until the next request, or release().
    std::string answer(std::string_view request);

    void release() { held_.reset(); }

    // The other process has gone. The places that it has not given back are free.
    void end();

private:
    // Of a bucket: how many are the other process', if they are counted from that one on.
    struct places {
        std::int64_t first = 0;
        std::int64_t count = 0;
    };

    struct swapped_bucket {
        bucket_id id;
        std::string_view before;
        std::string_view after;
        std::string present;
        bool fits = true;
    };

    memory_parts& parts_;
    std::optional<segment_locks> held_;
    std::unordered_map<bucket_id, places, bucket_id_hash> places_;

    void note(const bucket_id& id, const limit::bucket& before, const limit::bucket& after);
    limit::bucket present(const bucket_id& id) const;
};

}  // namespace gateway::store
