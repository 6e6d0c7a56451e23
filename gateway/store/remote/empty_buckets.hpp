// `empty_buckets` remembers the buckets that a shared store has called empty. A request for one of
// them is rejected here, without asking, until the moment at which the store would let it pass.
//
// Somebody may give a bucket tokens meanwhile: see store/remote/last_answer.hpp. While the store
// can be asked, no answer counts for longer than `fresh_for` after its question, either, so that a
// bucket that was deleted by hand is noticed, too. In stores whose answers carry no grant epoch,
// `fresh_for` is as short as last_answer::heard_for.
//
// The debt of a bucket shrinks faster than its rate only by grants, and by refunds of other
// workers' leases, which are not noticed here before the moment that the store named. A charge can
// only make the bucket emptier. The store's answer about a bucket, with the tokens issued since,
// is therefore an upper bound of what is in it now. A request that is too much for that is too much
// for the store. A bucket that is not remembered costs a question and nothing else.
//
// A rejection should name the longest time until the request passes all of its limits. When a
// question of several charges is rejected, all of its buckets are therefore remembered, and none is
// when it empties one itself.
//
// Memory is fixed: sets of four entries, found by a keyed hash of the bucket's name. In a full set
// the bucket that is full again first makes room. Time is an argument.
// Thread: one.
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
    static constexpr std::size_t slots = 16'384;

    // Remembers buckets of the store that answered `last`.
    // Ownership: `last` outlives this object.
    empty_buckets(const last_answer& last, base::duration fresh_for);

    // Forgets all buckets, as somebody has given tokens.
    void forget() { last_full_at_ = 0; }

    // Remembers the buckets of these charges that `given`, the store's answer, leaves without the
    // tokens for another request of the same cost, and of a rejected question the others, where
    // there is room. The times of empty ones count from `now`, when the answer came, so that none
    // is too early.
    void remember(std::span<const charge> charges, const answer& given, base::instant now);

    // True if the question need not be asked: an enforced charge is more than its bucket can hold,
    // or every charge is in shadow mode and is. `into` then has the decisions of the buckets that
    // are remembered as too empty; the others are unknown. If false, `into` means nothing.
    [[nodiscard]] bool decides(
        std::span<const charge> charges, base::instant now, belief counts, answer& into
    ) const;

private:
    static constexpr std::size_t ways = 4;

    // An entry for one bucket. One whose bucket is full again, or that no longer counts, makes room
    // first.
    // Units: microseconds, as stores count.
    struct slot {
        base::hash128 id;
        limit::bucket bucket;
        std::int64_t burst = 0;
        std::int64_t fresh_until = 0;
        // Grant epoch at which the bucket was remembered.
        std::int64_t epoch = 0;
    };

    using set = std::array<slot, ways>;

    // `worth` says what a bucket may take the room of: of nobody, unless it is remembered already;
    // of those that no longer count; or also of those that are full again before it is.
    enum class worth : std::uint8_t { update, free_room, room };

    const last_answer& last_;
    base::duration fresh_for_;
    std::unique_ptr<std::array<set, slots / ways>> sets_;
    // Time by which every remembered bucket is full again.
    std::int64_t last_full_at_ = 0;

    static worth worth_of(const charge& c, const limit::decision& d, bool is_only, bool admitted);
    set& set_of(const base::hash128& id) const;
    void put(const charge& c, std::int64_t now, std::int64_t full_at, worth of);
    const slot* find(const charge& c, std::int64_t fresh_at) const;
};

}  // namespace gateway::store
