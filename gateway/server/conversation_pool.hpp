// Conversations that nobody needs just now. One per worker.
#pragma once

#include "gateway/server/conversation.hpp"
#include "gateway/server/spares.hpp"

#include <memory>

namespace gateway::server {

class conversation_pool {
public:
    std::unique_ptr<conversation> borrow(session_environment& env)
    {
        return spares_.borrow([&env] { return std::make_unique<conversation>(env); });
    }

    // May be called by itself.
    void give_back(std::unique_ptr<conversation> at_rest) { spares_.give_back(std::move(at_rest)); }

    // Frees what holds on to an older view than the present one, too. Called from each tick.
    void trim(const policy_view& present)
    {
        spares_.erase_if([&](const conversation& c) { return c.holds_other_than(present); });
        spares_.trim();
    }

    // Whatever holds on to any view. They must all be here.
    void clear() { spares_.clear(); }

private:
    // Conversations to be borrowed; about 1 KiB each.
    spares<conversation> spares_;
};

}  // namespace gateway::server
