// `housekeeping` is what a shared store needs done now and then, besides questions. It goes on
// until this object is destroyed.
#pragma once

namespace gateway::store {

class housekeeping {
public:
    virtual ~housekeeping() = default;
};

}  // namespace gateway::store
