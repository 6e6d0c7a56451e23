// `sent_command` is a command that a link has sent to its server, in case it must be sent again.
#pragma once

#include "gateway/base/clock.hpp"
#include "gateway/store/remote/encoded_call.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace gateway::store::redis {

class link;

struct sent_command {
    // A `part` is one of the parts of a call to a cluster. ASKING goes before a part for a node
    // that does not have its slot yet.
    enum class kind : std::uint8_t { take, probe, load_script, part, asking };

    // Most redirections of a part from one server to the next.
    static constexpr int max_hops = 3;

    kind what = kind::take;
    bool sent_again = false;
    // Number of the call of a take, probe or part, which comes back in the reply.
    std::int64_t number = 0;
    // Encoded command, kept in case the server has forgotten the script. Its memory is used again.
    std::string bytes{};
    // Questions of a take or probe, by which the reply is parsed.
    std::vector<simple_charges> shape{};

    // Link, part number and deadline of the call that a part belongs to.
    std::weak_ptr<link> origin{};
    std::size_t part = 0;
    base::instant until{};
    int hops = 0;
    bool asking = false;
};

}  // namespace gateway::store::redis
