// The end of a loop that a test has run by hand.
#pragma once

#include "gateway/net/loop.hpp"

namespace gateway::net::testing {

// Returns when nothing is left to wait for; else the test hangs.
inline void end(loop& l)
{
    l.stop();
    l.context().restart();
    l.run();
}

}  // namespace gateway::net::testing
