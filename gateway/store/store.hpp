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
#include "gateway/base/hashed_name.hpp"
#include "gateway/limit/correction.hpp"
#include "gateway/limit/decision.hpp"
#include "gateway/limit/limit.hpp"
#include "gateway/limit/penalty.hpp"
#include "gateway/limit/token_lease.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace gateway::store {

// Most charges in one question; a route may not have more limits than that.
inline constexpr std::size_t max_charges = 8;

struct charge {
    // The limit's name from the configuration; may appear in keys.
    std::string_view limit_name;
    // What an identity::bucket_name is; may be secret, so stores hash it. The hash is of this
    // process: no other one knows it.
    base::hashed_name bucket_name;

    const limit::limit* limit = nullptr;
    std::int64_t cost = 1;
    // False: shadow mode, in which a charge never changes what the others get.
    bool enforced = true;
    // Of places in a shared store: a number that no other request's has, below 2^53.
    std::int64_t place = 0;
    // How long the request may wait for its tokens, and at most how many may be missing.
    base::duration max_wait{0};
    std::int64_t max_reserved = 0;
    // Null: rejections ban nobody. With `after` 0 they are not counted, and bans hold.
    const limit::penalty* penalty = nullptr;
    // Null: no tokens are taken ahead. Of token buckets in shared stores only, without max_wait and
    // penalty.
    const limit::token_lease* lease = nullptr;
    // Whether tokens may come back before their time, so that nothing may be concluded from an
    // earlier answer.
    bool may_be_corrected = false;
    // Of a correction that nobody expects: all who remember rejections of the store are to forget
    // them. Here, where it takes no room: a charge that is copied right after its last byte was
    // written alone costs 20 ns more.
    bool is_grant = false;
    // Of a shared store: answered as if a request asked, and leaves no trace, whatever the numbers
    // of its limit. In shadow mode.
    bool looks = false;

    // Not null: no request, but a correction of what the bucket owes, which is always allowed; the
    // cost is not looked at. The only charge of its question.
    const limit::correction* correction = nullptr;
    // Of a correction: 32 characters that no other one has, so that it is made once, however often
    // it is asked for. Of one that may be made again, none.
    std::string_view receipt{};
};

// Whether what is allowed is taken. A look is answered as a question that others reject: what would
// pass is allowed, with the numbers of its untouched bucket.
enum class intent : bool { look, take };

// One decision per charge, in their order. The local store writes into one its asker keeps, so that
// its 280 bytes are neither cleared nor copied: clearing them was an eighth of a decision.
class answer {
public:
    void clear()
    {
        admitted = true;
        count_ = 0;
        unknown_ = 0;
        shared_ = 0;
    }

    limit::decision& add(const limit::decision& d) { return decisions_[count_++] = d; }

    // For a charge whose bucket was not looked at: the question was decided by others.
    void add_unknown()
    {
        unknown_ |= 1U << count_;
        decisions_[count_++] = {};
    }

    void replace(std::size_t i, const limit::decision& d) { decisions_[i] = d; }

    std::span<const limit::decision> decisions() const { return {decisions_.data(), count_}; }

    // False: the i-th decision says nothing.
    bool knows(std::size_t i) const { return (unknown_ & (1U << i)) == 0; }

    // Whether every enforced charge was allowed, so that what was allowed has been taken.
    bool admitted = true;
    // When the tokens were taken, for a refund. Set by the local store only.
    base::instant taken_at{};
    // What it knows the places by that were taken: a number from 1, which others may have, too.
    std::int64_t places = 0;

    // The i-th charge took a place of those that clients without a bucket share.
    void add_shared(std::size_t i) { shared_ |= 1U << i; }

    // The number of the i-th charge's place in the local store; below 0: of a shared one.
    std::int64_t place(std::size_t i) const
    {
        return (shared_ & (1U << i)) != 0 ? -places : places;
    }

private:
    std::array<limit::decision, max_charges> decisions_{};
    std::size_t count_ = 0;
    std::uint32_t unknown_ = 0;
    std::uint32_t shared_ = 0;
};

// Why there is no answer. The classes differ in what the store does next; see docs/operations.md.
enum class failure : std::uint8_t {
    // The connection was refused, reset or closed, or there is no address.
    unreachable,
    // Nothing good came within `timeout`.
    timeout,
    // LOADING, BUSY, MASTERDOWN: the server says "not now".
    loading,
    // READONLY, NOREPLICAS, OOM: the server does not take writes.
    readonly,
    // NOAUTH, WRONGPASS, NOPERM: the server does not let us in, or not do this.
    auth,
    // MOVED, CROSSSLOT, unknown commands: not a server we can use.
    config,
    // The key holds something else. Says nothing about other keys.
    corrupt,
    // Bytes came that are no reply of ours.
    protocol,
    // Our own queue to the server is full.
    overload,
    // The breaker is open: the server was not asked at all.
    open,
};

inline constexpr std::array<std::string_view, 10> failure_names{
    "unreachable",
    "timeout",
    "loading",
    "readonly",
    "auth",
    "config",
    "corrupt",
    "protocol",
    "overload",
    "open",
};

// What became of the tokens of a question that has no answer.
enum class taken : std::uint8_t {
    // They are there as before: the store was never asked, or said that it did nothing.
    no,
    // It was asked, and what it did is not known.
    perhaps,
};

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

    // Takes nothing ahead any more, and gives back what is left. False: not all of that has been
    // answered yet.
    [[nodiscard]] virtual bool end_leases() { return true; }

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
};

}  // namespace gateway::store
