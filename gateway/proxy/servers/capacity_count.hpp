// `capacity_count` counts the requests that hold a slot at the same time, and keeps to a bound.
// Thread: any.
#pragma once

#include <atomic>
#include <cstdint>

namespace gateway::proxy {

class capacity_count {
public:
    // Takes a slot. Returns false if `most` are taken; 0 is no bound.
    bool take(std::uint32_t most)
    {
        if (most == 0) {
            taken_.fetch_add(1);
            return true;
        }
        std::uint32_t before = taken_.load();
        while (before < most) {
            if (taken_.compare_exchange_weak(before, before + 1)) {
                return true;
            }
        }
        return false;
    }

    void release() { taken_.fetch_sub(1); }

    std::uint32_t taken() const { return taken_.load(std::memory_order_relaxed); }

private:
    std::atomic<std::uint32_t> taken_{0};
};

}  // namespace gateway::proxy
