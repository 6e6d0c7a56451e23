// `preparation` and `housekeeping` are the care that a shared store needs besides questions.
#pragma once

#include <string>

namespace gateway::store {

// The result of making a shared store ready for questions.
struct preparation {
    // False if nothing could be missing. The store was then not asked.
    bool needed = true;
    // Description of a failure. Empty: there was none.
    std::string complaint{};
    // Description of what exists, but differs from the options. Empty: nothing does.
    std::string warning{};
};

// Work that goes on until this object is destroyed.
class housekeeping {
public:
    virtual ~housekeeping() = default;
};

}  // namespace gateway::store
