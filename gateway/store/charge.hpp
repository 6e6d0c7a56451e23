// What one limit of a request is charged in a store.
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
    // Of a correction that an operator has made, of the limit that is in force: it brings the
    // bucket to its terms, and as nobody expects it, all who remember rejections of the store are
    // to forget them. Here, where it takes no room: a charge that is copied right after its last
    // byte was written alone costs 20 ns more.
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

}  // namespace gateway::store
