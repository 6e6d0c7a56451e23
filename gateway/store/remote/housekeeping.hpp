// What a shared store needs done now and then, whoever asks it: it goes on until this is destroyed.
#pragma once

namespace gateway::store {

class housekeeping {
public:
    virtual ~housekeeping() = default;
};

}  // namespace gateway::store
