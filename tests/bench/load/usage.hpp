// What a set of processes has used of the processor, read from outside.
#pragma once

#include <cstdint>
#include <sys/types.h>
#include <vector>

namespace bench {

struct usage {
    std::uint64_t wall = 0;       // ns, monotonic
    std::uint64_t cpu = 0;        // ns of the processes together, from their own CPU clocks
    std::uint64_t user = 0;       // clock ticks: coarse, good for a share over many slices
    std::uint64_t system = 0;     // clock ticks
    std::uint64_t generator = 0;  // ns of this process
};

std::uint64_t now();  // ns, monotonic
usage used_by(const std::vector<pid_t>& processes);
usage operator-(const usage& end, const usage& begin);

}  // namespace bench
