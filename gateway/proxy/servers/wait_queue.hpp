// Requests that wait for a place at one of an upstream's servers, of all workers, first come, first
// served. Any thread; its lock is taken only while somebody waits.
//
// Who frees a place wakes the first that was not woken yet; who was woken looks for a place itself
// and leaves, or stays where it is; if what is free may suit another better, it wakes the next one.
// A waker must therefore free the place before it asks empty(), and a waiter must enter before it
// looks for a place.
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
        // Under the queue's lock, from any thread: must only post.
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

    // False: `most` wait already.
    bool enter(entry& e, std::size_t most);

    // If it was woken meanwhile, the next one is instead.
    void leave(entry& e);

    // Whether it was woken since it last asked.
    bool take_wake_up(entry& e);

    void wake_first();

    // Wakes the first behind `e` that was not woken yet.
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
