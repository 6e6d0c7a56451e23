// `bucket_swap` and `swap_server` let a process go on deciding after it has handed its buckets over
// to the next process. The old process keeps a copy of each bucket, decides by the copy, and asks
// the next process to replace the bucket with the outcome. If that process has another bucket by
// now, it sends this one back, and the decision is made again. Both processes so decide by the same
// buckets, one after the other. A bucket for which one of the two has no room is left out, and each
// process decides about its client for itself.
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

// `segment_locks` locks the segments of some buckets, in ascending order, while it lives.
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

// `bucket_swap` is one question in the process that had the buckets. It takes one request to the
// other process, and another one whenever buckets have changed or found no room there.
class bucket_swap {
public:
    bucket_swap(memory_parts& parts, std::span<const charge> charges, base::instant now);

    // Calls `change`, which changes the copies here, and makes the request of that.
    template <typename Change>
    void decide(Change change)
    {
        before_ = copies();
        change();
        write_request();
    }

    std::string_view request() const { return request_.bytes(); }

    // Returns false if the decision must be made again, because other buckets came back or one is
    // left out from now on.
    bool settle(std::string_view answer);

private:
    memory_parts& parts_;
    // Buckets for which both processes have room, as far as is known.
    std::vector<bucket_id> ids_;
    std::int64_t now_;
    // Records of these buckets before the change.
    std::vector<std::string> before_;
    snapshot_bytes request_;

    std::vector<std::string> copies() const;
    void write_request();
};

// `swap_server` answers such requests in the process that has the buckets.
// Thread: one.
class swap_server {
public:
    explicit swap_server(memory_parts& parts) : parts_(parts) {}

    // Begins with the buckets that have just come: all their permits are held by the other process.
    void begin();

    // Returns the answer to a request. Other buckets that it sends back stay locked until the next
    // request or release().
    std::string answer(std::string_view request);

    void release() { held_.reset(); }

    // Frees the permits that the other process has not released. That process has gone.
    void end();

private:
    // `permits` counts the permits of one bucket that the other process holds, among those whose
    // number is at least `first`.
    struct permits {
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
    std::unordered_map<bucket_id, permits, bucket_id_hash> permits_;

    void note(const bucket_id& id, const limit::bucket& before, const limit::bucket& after);
    limit::bucket present(const bucket_id& id) const;
};

}  // namespace gateway::store
