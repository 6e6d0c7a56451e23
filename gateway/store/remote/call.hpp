// `pending_question` is a question on its way to a shared store, and `call` the questions that are
// under way together.
#pragma once

#include "gateway/base/clock.hpp"
#include "gateway/store/store.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace gateway::store {

// A slot for one question. The question points to its slot, so that it can leave it. The slot does
// not move.
struct pending_question {
    // The question. Null if it is settled, or has been abandoned.
    question* asker = nullptr;
    // Charges of the question. The asker owns them.
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

    // Empties the slot and returns its question, or null if that was abandoned.
    question* release()
    {
        question* const q = asker;
        if (q != nullptr) {
            q->slot_ = nullptr;
            asker = nullptr;
        }
        return q;
    }

    // Returns the content of the slot, and empties it. The question can then still be answered
    // through the copy, but no longer be abandoned.
    pending_question claim()
    {
        pending_question claimed = *this;
        claimed.asker = release();
        return claimed;
    }

    // Moves the question from another slot to this one.
    // Requires: the question of `from` was not abandoned.
    void take_over(pending_question& from)
    {
        hold(*from.asker, from.charges, from.asked, from.deadline);
        from.asker = nullptr;
    }
};

struct call {
    static constexpr std::size_t max_questions = 64;
    static constexpr std::size_t max_charges = 128;

    // Number that the reply repeats. 0: the call is not under way.
    std::int64_t number = 0;
    base::instant sent{};
    // True if the store has had a whole timeout for it.
    bool late = false;
    std::size_t count = 0;
    // The questions, oldest first, except that one that asks the same as an earlier one follows it.
    std::array<pending_question, max_questions> questions{};

    std::span<pending_question> all() { return std::span{questions}.first(count); }

    std::span<const pending_question> all() const { return std::span{questions}.first(count); }
};

// True if both questions ask the same of the same buckets. A correction equals no other question.
bool ask_the_same(const pending_question& a, const pending_question& b);

// Moves equal questions of a call next to each other, to be encoded and decided as one. None
// overtakes another question to its bucket, so that all are answered as if in their original order.
void bring_together(call& c);

}  // namespace gateway::store
