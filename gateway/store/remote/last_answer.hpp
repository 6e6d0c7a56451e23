// What a shared store answered last, by which what it said before counts or does not.
//
// Somebody may give a bucket tokens that nobody expects: every answer carries a mark that changes
// whenever that happens. So nothing counts unless the store has answered what was asked within
// `heard_for`, and a grant counts here no later than that. Of a store that cannot be asked all that
// it said counts. One thread. Time is an argument.
#pragma once

#include "gateway/base/clock.hpp"

#include <cstdint>

namespace gateway::store {

// Which of a store's words count.
enum class belief : bool { fresh, all };

class last_answer {
public:
    static constexpr base::duration heard_for = std::chrono::milliseconds{100};

    // An answer has come to what was asked then, with the mark of the last grant of tokens. True:
    // it is another one than before, so nothing counts any more.
    [[nodiscard]] bool heard(std::int64_t mark, base::instant asked)
    {
        asked_at_ = asked;
        const bool another = mark != mark_;
        mark_ = mark;
        return another;
    }

    bool counts(base::instant now, belief in) const
    {
        return in == belief::all || now - asked_at_ <= heard_for;
    }

    std::int64_t mark() const { return mark_; }

    // When it was asked for.
    base::instant asked_at() const { return asked_at_; }

private:
    std::int64_t mark_ = 0;
    base::instant asked_at_{};
};

}  // namespace gateway::store
