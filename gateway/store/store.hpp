// `shared_store` is a store of buckets behind a network, and `question` what a request asks of it.
//
// A question is the charges of one request that the store decides together, one for each of its
// limits in this store. The store answers with one decision per charge, and takes tokens all or
// nothing: a charge is taken only if every enforced charge of the question was allowed (and, in
// shadow mode, only if it was allowed itself). When the question is rejected, a charge that would
// have passed is still `allowed`, with the numbers of its untouched bucket. If a bucket is charged
// twice in one question, the second charge sees the first. tests/contract holds every store to the
// same answers.
#pragma once

#include "gateway/base/clock.hpp"
#include "gateway/store/answer.hpp"
#include "gateway/store/charge.hpp"
#include "gateway/store/failure.hpp"

#include <optional>
#include <span>

namespace gateway::store {

// A question on its way to a shared store. Destroying it abandons it: the server may still execute
// it, but nobody gets an answer. It is neither copied nor moved.
// Ownership: the asker derives from it, and keeps it until answered() or failed() was called.
// Thread: the store's.
class question {
public:
    question() = default;
    question(const question&) = delete;
    question& operator=(const question&) = delete;

    virtual void answered(const answer& a) = 0;
    virtual void failed(failure why, taken tokens) = 0;

    virtual ~question() { abandon_question(); }

    // Abandons the question: neither answered() nor failed() will be called.
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
    // Address of the store's pointer to this question. Null before either function is called.
    question** slot_ = nullptr;
};

// A store behind a network. Each worker has one per store.
// Thread: the worker's.
class shared_store {
public:
    virtual ~shared_store() = default;

    // True if earlier answers decide the question without asking: it is rejected, or all its
    // charges are in shadow mode and would be. Then `into` is the answer, in which some charges may
    // be unknown, and nothing is taken. Otherwise `into` means nothing.
    [[nodiscard]] virtual bool recalls(
        std::span<const charge> charges, base::instant now, answer& into
    ) const = 0;

    // Takes the tokens of all charges from those taken ahead, if there are enough, with the answer
    // in `into`. Otherwise returns false, takes nothing, and leaves `into` without meaning: ask the
    // store.
    [[nodiscard]] virtual bool take_leased(std::span<const charge> charges, answer& into)
    {
        (void)charges, (void)into;
        return false;
    }

    // Stops taking tokens ahead. Gives back those taken ahead, and those taken for requests that
    // were then refused. Returns false until all of that has been answered.
    [[nodiscard]] virtual bool settle_up() { return true; }

    // Asks the question. Either returns at once the reason why that is impossible, and never calls
    // back, or later calls exactly one of `answered` and `failed`, never from inside ask(), and no
    // later than the store's timeout plus 5 ms. The answer may leave charges unknown: any of them
    // if it rejects, and those in shadow mode if it admits.
    // Requires: the charges, and all they point to, stay unchanged until then.
    virtual std::optional<failure> ask(std::span<const charge> charges, question& q) = 0;

    // Fails every pending question, and cancels all work, so that the io_context's run() can return
    // (a name that is being resolved still holds it). Every later ask() fails at once.
    virtual void close() = 0;

    // Stops reporting the store's health, as a reload has replaced this object. It still serves
    // those who use it. Its successor of the same name writes the same metrics.
    virtual void retire() = 0;

    // True if the store can be asked: connected, greeted, and the breaker is closed.
    virtual bool healthy() const = 0;

    // True if the store can be asked about this charge's bucket. In a cluster only some servers may
    // be away.
    virtual bool has(const charge&) const { return healthy(); }
};

}  // namespace gateway::store
