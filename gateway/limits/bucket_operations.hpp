// `bucket_operations` runs the admin API's operations on buckets. They run at one worker, as links
// to shared stores are each worker's own, and the local store belongs to all workers.
// Ownership: the worker's.
// Thread: the worker's.
#pragma once

#include "gateway/base/clock.hpp"
#include "gateway/limits/policy_view.hpp"
#include "gateway/store/memory/memory_store.hpp"

#include <functional>
#include <list>
#include <memory>
#include <string>
#include <string_view>

namespace gateway::limits {

struct bucket_operation {
    enum class kind {
        // Tells whether `tokens` could be taken. Changes nothing.
        look,
        take,
        // Makes the bucket full again.
        reset,
        // Gives `tokens` to the bucket, until it is full.
        grant,
        // Bans the bucket for `ban`, or ends its ban.
        ban,
        unban,
    };
    kind what = kind::look;
    // The policy; `limit` is an index of its limits.
    std::shared_ptr<const policy::policy> policy;
    std::size_t limit = 0;
    // The limit's own numbers, or those of one of its plans, in the same policy.
    const limit::limit* numbers = nullptr;
    // The bytes of identity::bucket_name.
    std::string bucket_name;
    std::int64_t tokens = 1;
    // Longest wait of a take for its tokens.
    base::duration max_wait{0};
    base::duration ban{0};
    // True for a look at the bucket that stands in for this one while its store fails.
    bool at_fallback = false;

    // True if it changes the bucket whatever is in it. It then ends with a look for one token.
    bool is_correction() const { return what != kind::look && what != kind::take; }

    std::int64_t tokens_looked_for() const { return is_correction() ? 1 : tokens; }
};

struct bucket_result {
    // Reason why there is no answer, a clause for people; empty if there is one.
    std::string_view failed{};
    // Decision of the look or take. After any other operation, that of a look for one token.
    limit::decision decision{};
    // Time that a ban of the bucket still lasts; 0 if there is none.
    base::duration banned_for{0};
    // True if an operator has banned it, and not the limit's penalty.
    bool by_operator = false;
};

class bucket_operations {
public:
    // Most operations under way at shared stores. More at a time fail at once.
    static constexpr std::size_t max_pending = 256;

    using listener = std::function<void(const bucket_result&)>;

    bucket_operations(store::memory_store& local, const base::turn_clock& c);
    ~bucket_operations();

    // Runs an operation. `hear` is called once, at once or later, if the worker lives until then.
    // An operation whose policy is not the view's fails.
    void ask(const policy_view& view, bucket_operation operation, listener hear);

private:
    class pending;

    store::memory_store& local_;
    const base::turn_clock& clock_;
    std::list<pending> pending_;

    bucket_result ask_local(const bucket_operation& operation, store::charge c);
};

}  // namespace gateway::limits
