// Where the buckets of a memory store are while the process that follows takes them over: here, on
// their way, or there. Any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gateway::store {

// The process that has the buckets. Any thread.
class bucket_keeper {
public:
    // Held by who asks, until all is settled.
    virtual void lock() = 0;
    virtual void unlock() = 0;

    // Answers a request of memory_store's as memory_store::answer_swap() of that process does;
    // nothing: it has ended. Waits.
    virtual std::optional<std::string> ask(std::string_view request) = 0;

protected:
    ~bucket_keeper() = default;
};

class bucket_custody {
public:
    // To be asked while a lock of the bucket is held: what was changed before buckets left has
    // left with them.
    bool here() const { return where_.load(std::memory_order_relaxed) == place::here; }

    // Before they are copied: from now on nobody changes one here.
    void leave() { go(place::nowhere); }

    void come_back() { go(place::here); }

    // They are at `keeper` from now on, who outlives all questions.
    void arrive_at(bucket_keeper& keeper)
    {
        keeper_ = &keeper;
        go(place::elsewhere);
    }

    // Waits while they are on their way. Null: they are here.
    bucket_keeper* find() const
    {
        where_.wait(place::nowhere);
        return where_.load() == place::elsewhere ? keeper_ : nullptr;
    }

private:
    enum class place : std::uint8_t { here, nowhere, elsewhere };

    std::atomic<place> where_{place::here};
    bucket_keeper* keeper_ = nullptr;

    void go(place to)
    {
        where_.store(to);
        where_.notify_all();
    }
};

}  // namespace gateway::store
