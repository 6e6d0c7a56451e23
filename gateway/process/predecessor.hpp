// `predecessor` is the older gateway process, which started this one. It hands its buckets to this
// process. While it drains, it asks this process about them, and a thread of this class answers.
// Thread: the main thread calls everything.
#pragma once

#include "gateway/net/socket.hpp"
#include "gateway/store/memory/memory_store.hpp"

#include <atomic>
#include <thread>

namespace gateway {

class predecessor {
public:
    // Learns from the environment if there is one, and removes the variable, so that no child sees
    // it.
    explicit predecessor(store::memory_store& buckets);

    ~predecessor() { await_end(); }

    predecessor(const predecessor&) = delete;
    predecessor& operator=(const predecessor&) = delete;

    // True if there was one at the start.
    bool was_there() const { return was_there_; }

    // True if it is there now, and goes on serving unless it is told otherwise.
    // Requires: nothing was taken over yet.
    bool serves() const;

    // True if it is there now, and drains.
    bool drains() const { return drains_; }

    // Takes the buckets over. Returns false if the older process has ended meanwhile, so that only
    // this one serves.
    // Requires: was_there(), and all else is ready to serve.
    // Errors: std::runtime_error if its buckets cannot be used; the older process goes on serving.
    bool take_buckets();

    // Reports to it that this process serves, so that it may drain.
    void follow();

    // Waits until it has ended. It drains for no longer than its drain_timeout.
    void await_end();

private:
    store::memory_store& buckets_;
    net::socket channel_;
    net::socket file_;
    bool was_there_ = false;
    std::atomic<bool> drains_{false};
    // Thread that answers its requests, until it has ended.
    std::thread thread_;

    void answer();
};

}  // namespace gateway
