#pragma once

#include <cstdint>

namespace gateway::bench {

// What this program has allocated by now, its libraries included; of any thread.
std::int64_t allocations();

}  // namespace gateway::bench
