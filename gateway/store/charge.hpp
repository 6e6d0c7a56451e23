// `charge` is what one limit of a request takes from one bucket in a store.
#pragma once

#include "gateway/base/clock.hpp"
#include "gateway/base/hashed_name.hpp"
#include "gateway/limit/correction.hpp"
#include "gateway/limit/limit.hpp"
#include "gateway/limit/penalty.hpp"
#include "gateway/limit/token_lease.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace gateway::store {

// Most charges in one question. A route may not have more limits than that.
inline constexpr std::size_t max_charges = 8;

struct charge {
    // Name of the limit in the configuration. It may appear in keys.
    std::string_view limit_name;
    // Name of the bucket, from identity::bucket_name. It may be secret, so stores hash it. The hash
    // in here is keyed, and no other process knows the key.
    base::hashed_name bucket_name;

    const limit::limit* limit = nullptr;
    std::int64_t cost = 1;
    // False in shadow mode, in which a charge never changes what the others get.
    bool enforced = true;
    // Number of the permit in a shared store, below 2^53. No other request has the same one.
    std::int64_t permit = 0;
    // Longest time that the request may wait for its tokens, and most tokens that may be missing.
    base::duration max_wait{0};
    std::int64_t max_reserved = 0;
    // Penalty for rejections. Null: they ban nobody. With `after` 0 they are not counted, but bans
    // hold.
    const limit::penalty* penalty = nullptr;
    // Rule for taking tokens ahead. Null: none are. Only for token buckets in shared stores,
    // without max_wait and penalty.
    const limit::token_lease* lease = nullptr;
    // True if tokens may be refunded later, so that an earlier answer about the bucket proves
    // nothing.
    bool may_be_corrected = false;
    // True for an operator's correction under the limit in force. It brings the bucket to that
    // limit's terms, and as nobody expects it, workers must forget the rejections that they
    // remember. The member stands here, where it takes no room: a charge that is copied right after
    // a write to its last byte costs 20 ns more.
    bool is_grant = false;
    // True for a charge that a shared store answers as if a request asked, but of which it keeps no
    // trace, whatever the numbers of the limit. Always in shadow mode.
    bool looks = false;
    // True for a correction of tokens that were taken from the bucket of the local store which
    // clients without a slot share: see answer::is_shared().
    bool is_of_shared_bucket = false;

    // Correction of what the bucket owes. Null for a request. A correction is always allowed, its
    // `cost` is ignored, and it is the only charge of its question.
    const limit::correction* correction = nullptr;
    // Unique 32 characters by which the store makes a correction once, however often it is asked
    // to. Empty if it may be made again.
    std::string_view receipt{};
};

// `intent` says if allowed charges are taken. A look is answered like a question that another
// charge rejects: what would pass is `allowed`, with the numbers of its untouched bucket.
enum class intent : bool { look, take };

}  // namespace gateway::store
