// `preparation` is the result of making a shared store ready for questions.
#pragma once

#include <string>

namespace gateway::store {

struct preparation {
    // False if nothing could be missing. The store was then not asked.
    bool needed = true;
    // Description of a failure. Empty: there was none.
    std::string complaint{};
    // Description of what exists, but differs from the options. Empty: nothing does.
    std::string warning{};
};

}  // namespace gateway::store
