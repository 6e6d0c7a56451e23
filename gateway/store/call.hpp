// What a link keeps of a question that is not answered yet: while it waits to be sent, and then.
#pragma once

#include "gateway/base/clock.hpp"
#include "gateway/store/store.hpp"

#include <cstdint>
#include <span>
#include <string>

namespace gateway::store::redis {

struct pending_question {
    // Null when it has been failed, or left.
    question* asker = nullptr;
    // The asker's own: there as long as it is.
    std::span<const charge> charges{};
    base::instant asked{};
    base::instant deadline{};
};

struct sent_command {
    enum class kind : std::uint8_t {
        take,
        probe,
        load_script,
        // Counted as failed already.
        overdue_probe,
    };

    kind what = kind::take;
    bool sent_again = false;
    // Of a take or probe; it comes back in the reply.
    std::int64_t number = 0;
    // Without an asker if it is no take.
    pending_question question;
    // Of a take, in case the server has forgotten the script. The place keeps its memory.
    std::string bytes;
};

}  // namespace gateway::store::redis
