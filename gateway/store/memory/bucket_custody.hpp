// `bucket_custody` knows where the buckets of a memory store are while the next process takes them
// over: here, on their way, or there.
// Thread: any.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gateway::store {

// `bucket_keeper` is the process that has the buckets now.
// Thread: any.
class bucket_keeper {
public:
    // The lock is held by the thread that asks, until its question is settled.
    virtual void lock() = 0;
    virtual void unlock() = 0;

    // Sends a request of memory_store to that process and waits for its answer
    // (memory_store::answer_swap()). Returns nothing if that process has ended.
    virtual std::optional<std::string> ask(std::string_view request) = 0;

protected:
    ~bucket_keeper() = default;
};

class bucket_custody {
public:
    // True if the buckets are in this process.
    // Requires: the lock of the bucket in question. Changes made before the buckets left went with
    // them.
    bool here() const { return where_.load(std::memory_order_relaxed) == location::here; }

    // Marks the buckets as leaving, before they are copied. No bucket here changes from now on.
    void leave() { go(location::nowhere); }

    void come_back() { go(location::here); }

    // Marks the buckets as being at `keeper` from now on.
    // Ownership: `keeper` outlives all questions.
    void arrive_at(bucket_keeper& keeper)
    {
        keeper_ = &keeper;
        go(location::elsewhere);
    }

    // Returns the process that has the buckets, or null if they are here. Waits while they are on
    // their way.
    bucket_keeper* find() const
    {
        where_.wait(location::nowhere);
        return where_.load() == location::elsewhere ? keeper_ : nullptr;
    }

private:
    enum class location : std::uint8_t { here, nowhere, elsewhere };

    std::atomic<location> where_{location::here};
    bucket_keeper* keeper_ = nullptr;

    void go(location to)
    {
        where_.store(to);
        where_.notify_all();
    }
};

}  // namespace gateway::store
