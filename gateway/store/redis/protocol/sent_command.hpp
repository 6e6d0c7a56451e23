// What a link has said to its server, in case it is to be said again.
#pragma once

#include "gateway/base/clock.hpp"
#include "gateway/store/remote/told_call.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace gateway::store::redis {

class link;

struct sent_command {
    // A `part` is one of a call to a cluster; ASKING goes before one that a node does not have yet.
    enum class kind : std::uint8_t { take, probe, load_script, part, asking };

    // Most servers that may send a part elsewhere.
    static constexpr int max_hops = 3;

    kind what = kind::take;
    bool sent_again = false;
    // Of a take, probe or part's call; it comes back in the reply.
    std::int64_t number = 0;
    // In case the server has forgotten the script. The place keeps its memory.
    std::string bytes{};
    // Of a take or probe: what it asks.
    std::vector<usual_questions> shape{};

    // Of a part: whose call it is of, which part, and when that call's time is up.
    std::weak_ptr<link> origin{};
    std::size_t part = 0;
    base::instant until{};
    int hops = 0;
    bool asking = false;
};

}  // namespace gateway::store::redis
