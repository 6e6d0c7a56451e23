// `spin_lock` is for critical sections of some ten nanoseconds. It spins a little, then lets other
// threads run.
#pragma once

#include <atomic>
#include <sched.h>

namespace gateway::store {

class spin_lock {
public:
    void lock()
    {
        for (int spins = 0; !try_lock(); ++spins) {
            if (spins < max_spins) {
                pause();
            } else {
                // The lock's holder was taken off the processor.
                sched_yield();
            }
        }
    }

    bool try_lock()
    {
        return !held_.load(std::memory_order_relaxed) &&
               !held_.exchange(true, std::memory_order_acquire);
    }

    void unlock() { held_.store(false, std::memory_order_release); }

private:
    static constexpr int max_spins = 64;

    std::atomic<bool> held_{false};

    static void pause()
    {
#if defined(__x86_64__)
        __builtin_ia32_pause();
#endif
    }
};

}  // namespace gateway::store
