// The buckets that a shared store has called empty: a request for one of them is rejected here,
// without asking, until the moment at which the store would let it pass.
//
// Somebody may give a bucket tokens meanwhile: see store/remote/last_answer.hpp. While the store
// can be asked no word counts for longer than `fresh_for` after the question, either, so that a
// bucket that was deleted by hand is noticed, too. Where no answer tells of grants, `fresh_for` is
// as short as last_answer::heard_for.
//
// What a bucket owes shrinks faster than its rate by grants only, and by what others give back of
// their leases, which waits for the moment that the store named: whoever takes from the bucket can
// only make it emptier. So what the store said of a bucket once is, with the tokens that have
// flowed back since, the most that can be in it now. A request that is too much for that is too
// much for the store. What is not remembered, any more or yet, costs a question and nothing else.
//
// Memory is fixed: places in sets of four, found by a keyed hash of the bucket's name; in a full
// set the one that is full again first makes room. One thread. Time is an argument.
#pragma once

#include "gateway/base/clock.hpp"
#include "gateway/base/hash.hpp"
#include "gateway/limit/algebra.hpp"
#include "gateway/store/remote/last_answer.hpp"
#include "gateway/store/store.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace gateway::store {

class empty_buckets {
public:
    static constexpr std::size_t places = 16'384;

    // Of the store that answered `last`, which must outlive it.
    empty_buckets(const last_answer& last, base::duration fresh_for);

    // Somebody has given tokens.
    void forget() { last_full_at_ = 0; }

    // Remembers the buckets of these charges that `given`, the store's answer, leaves without the
    // tokens for another request of the same cost. The moments it names count from `now`, which is
    // when the answer came, so none is too early.
    void remember(std::span<const charge> charges, const answer& given, base::instant now);

    // True if an enforced charge is more than what its bucket can hold, or if every charge is in
    // shadow mode and is: the question need not be asked. `into` has the decisions of the buckets
    // that are remembered as too empty; the others are unknown. False: `into` says nothing.
    [[nodiscard]] bool decides(
        std::span<const charge> charges, base::instant now, belief counts, answer& into
    ) const;

private:
    static constexpr std::size_t ways = 4;

    // In microseconds, as stores count. A place whose bucket is full again, or that does not count
    // any more, makes room first.
    struct place {
        base::hash128 id;
        limit::bucket bucket;
        std::int64_t burst = 0;
        std::int64_t fresh_until = 0;
        // The mark at which it was remembered.
        std::int64_t mark = 0;
    };

    using set = std::array<place, ways>;

    const last_answer& last_;
    base::duration fresh_for_;
    std::unique_ptr<std::array<set, places / ways>> sets_;
    // No bucket here is full later than that.
    std::int64_t last_full_at_ = 0;

    set& set_of(const base::hash128& id) const;
    void put(const charge& c, std::int64_t now, std::int64_t full_at, bool is_empty);
    const place* find(const charge& c, std::int64_t fresh_at) const;
};

}  // namespace gateway::store
