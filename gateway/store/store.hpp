// What a place where buckets live is asked, and what it answers.
//
// A request puts one question: a charge for each of its limits in this store. The store answers
// with one decision per charge, and takes tokens all or nothing: a charge is taken only if every
// enforced charge of the question was allowed (and, in shadow mode, only if it was allowed itself).
// When the question is rejected, a charge that would have passed is still `allowed`, with the
// numbers of its untouched bucket. A bucket charged twice in one question sees both, in order.
// tests/contract holds every store to the same answers.
#pragma once

#include "gateway/base/clock.hpp"
#include "gateway/store/answer.hpp"
#include "gateway/store/charge.hpp"
#include "gateway/store/failure.hpp"

#include <optional>
#include <span>

namespace gateway::store {

// One question on its way to a shared store. The asker derives from it and keeps it alive until
// one of the two calls has come, or destroys it, which abandons the question: the server may still
// execute it, but nobody hears of it. Same thread as the store. Not copyable, not movable.
class question {
public:
    question() = default;
    question(const question&) = delete;
    question& operator=(const question&) = delete;

    virtual void answered(const answer& a) = 0;
    virtual void failed(failure why, taken tokens) = 0;

    virtual ~question() { abandon_question(); }

    // Nobody will hear of it.
    void abandon_question()
    {
        if (slot_ != nullptr) {
            *slot_ = nullptr;
            slot_ = nullptr;
        }
    }

    bool asked() const { return slot_ != nullptr; }

private:
    friend struct pending_question;
    // Where the store keeps its pointer to this question; cleared before either call.
    question** slot_ = nullptr;
};

// A store behind a network. One per worker and server; everything on the worker's thread.
class shared_store {
public:
    virtual ~shared_store() = default;

    // Whether what the store said before decides the question without asking: it is rejected, or
    // all its charges are in shadow mode and would be. Then `into` is the answer, which may know
    // some of the charges only, and nothing is taken. Else `into` says nothing.
    [[nodiscard]] virtual bool recalls(
        std::span<const charge> charges, base::instant now, answer& into
    ) const = 0;

    // Takes the tokens of all charges from what was taken ahead, if they are there: `into` is the
    // answer. Else `into` says nothing, nothing is taken, and the store is to be asked.
    [[nodiscard]] virtual bool take_leased(std::span<const charge> charges, answer& into)
    {
        (void)charges, (void)into;
        return false;
    }

    // Takes nothing ahead any more, and gives back what it took ahead, and what it took for
    // requests that were then refused. False: not all of that has been answered yet.
    [[nodiscard]] virtual bool settle_up() { return true; }

    // Puts the question. Either returns the reason why not, at once (and never calls back), or
    // calls exactly one of `answered` and `failed` later, never from inside ask(), and no later
    // than the store's timeout plus 5 ms. The charges, and what they point to, must stay as they
    // are until then. The answer may leave charges unknown: any of them
    // if it rejects, and those in shadow mode if it admits.
    virtual std::optional<failure> ask(std::span<const charge> charges, question& q) = 0;

    // Fails every pending question, and cancels all work, so that the io_context's run() can
    // return (a name being resolved just then still holds it). Every later ask() fails at once.
    virtual void close() = 0;

    // A reload replaced it: it goes on for those who still use it, but its health is nobody's
    // business any more (its successor of the same name writes the same metrics).
    virtual void retire() = 0;

    // Can be asked: connected, greeted, and the breaker is closed.
    virtual bool healthy() const = 0;

    // Can be asked for this bucket: of a cluster another server may be away.
    virtual bool has(const charge&) const { return healthy(); }
};

}  // namespace gateway::store
