// `wait_queue` holds the requests of all workers that wait for a slot at one of an upstream's
// servers, first come, first served. A waker frees a slot and wakes the first entry that was not
// woken yet. That one looks for a slot itself and leaves, or stays where it is. If the free slot
// may suit another better, it wakes the next one.
// Requires: a waker frees the slot before it asks empty(); a waiter enters before it looks for one.
// Thread: any. The lock is taken only while somebody waits.
#pragma once

#include <atomic>
#include <cstddef>
#include <list>
#include <mutex>

namespace gateway::proxy {

class wait_queue {
public:
    class entry {
    public:
        // Called under the queue's lock, from any thread. Must only post.
        virtual void wake() = 0;

    protected:
        virtual ~entry() = default;

    private:
        friend class wait_queue;
        std::list<entry*>::iterator at_;
        std::atomic<bool> woken_{false};
    };

    wait_queue() = default;
    wait_queue(const wait_queue&) = delete;
    wait_queue& operator=(const wait_queue&) = delete;

    // Adds an entry at the end. Returns false if `most` wait already.
    bool enter(entry& e, std::size_t most);

    // Removes an entry. Wakes the next one instead if this one was woken meanwhile.
    void leave(entry& e);

    // Returns true if the entry was woken since the last call for it.
    bool take_wake_up(entry& e);

    void wake_first();

    // Wakes the first entry behind `e` that was not woken yet.
    void wake_next(entry& e);

    bool is_first(const entry& e) const { return first_.load(std::memory_order_relaxed) == &e; }

    bool empty() const { return length_.load() == 0; }

    std::size_t length() const { return length_.load(std::memory_order_relaxed); }

private:
    std::mutex mutex_;
    std::list<entry*> entries_;
    std::atomic<std::size_t> length_{0};
    std::atomic<const entry*> first_{nullptr};

    void count_locked();
    void wake_locked(std::list<entry*>::iterator from);
};

}  // namespace gateway::proxy
