// What came of making a shared store ready to be asked.
#pragma once

#include <string>

namespace gateway::store {

struct preparation {
    // False: there is nothing that could be missing, and the store was not asked.
    bool needed = true;
    // What went wrong; empty: nothing.
    std::string complaint{};
    // What is there, and is not as the options want it; empty: nothing.
    std::string warning{};
};

}  // namespace gateway::store
