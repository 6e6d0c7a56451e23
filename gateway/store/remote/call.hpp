// Questions on their way to a shared store: waiting, then under way together in one call.
#pragma once

#include "gateway/base/clock.hpp"
#include "gateway/store/store.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace gateway::store {

// A place for one question, which knows the place, so that it can leave it. The place does not
// move.
struct pending_question {
    // Null when it is settled, or has left.
    question* asker = nullptr;
    // The asker's own: there as long as it is.
    std::span<const charge> charges{};
    base::instant asked{};
    base::instant deadline{};

    void hold(question& q)
    {
        asker = &q;
        q.slot_ = &asker;
    }

    void hold(
        question& q, std::span<const charge> its_charges, base::instant now, base::instant until
    )
    {
        charges = its_charges;
        asked = now;
        deadline = until;
        hold(q);
    }

    // The asker, if it is still there; the place knows nothing of it any more.
    question* release()
    {
        question* const q = asker;
        if (q != nullptr) {
            q->slot_ = nullptr;
            asker = nullptr;
        }
        return q;
    }

    // What stands here, whose place is free then. Its asker can still be answered by it, and can no
    // longer abandon it.
    pending_question claim()
    {
        pending_question claimed = *this;
        claimed.asker = release();
        return claimed;
    }

    // Of a place whose asker is still there.
    void take_over(pending_question& from)
    {
        hold(*from.asker, from.charges, from.asked, from.deadline);
        from.asker = nullptr;
    }
};

struct call {
    static constexpr std::size_t max_questions = 64;
    static constexpr std::size_t max_charges = 128;

    // It comes back in the reply. 0: not under way.
    std::int64_t number = 0;
    base::instant sent{};
    // The store has had a whole timeout for it.
    bool late = false;
    std::size_t count = 0;
    // Oldest first, but for those that ask the same as an earlier one: they follow it.
    std::array<pending_question, max_questions> questions{};

    std::span<pending_question> all() { return std::span{questions}.first(count); }

    std::span<const pending_question> all() const { return std::span{questions}.first(count); }
};

}  // namespace gateway::store
