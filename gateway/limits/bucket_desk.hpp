// Where the admin API asks about buckets: at one worker, as the links to shared stores are its own,
// and the local store is all workers'. Belongs to the worker; one thread.
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

struct bucket_question {
    enum class kind {
        // Whether `tokens` could be taken; nothing changes.
        look,
        take,
        // The bucket is full again.
        reset,
        // `tokens` are given, until it is full.
        grant,
        // It is banned for `ban`, or not any more.
        ban,
        unban,
    };
    kind what = kind::look;
    // The policy that `limit` is an index of.
    std::shared_ptr<const policy::policy> policy;
    std::size_t limit = 0;
    // Its own numbers, or those of one of its plans. Of the same policy.
    const limit::limit* numbers = nullptr;
    // The bytes of identity::bucket_name.
    std::string bucket_name;
    std::int64_t tokens = 1;
    // Of a take: how long to wait for the tokens, if need be.
    base::duration max_wait{0};
    base::duration ban{0};
    // Of a look: at the bucket that stands in for it while its store fails.
    bool at_fallback = false;
};

struct bucket_answer {
    // Why there is no answer, in a clause for people; empty: there is one.
    std::string_view failed{};
    // Of a look or take; else what a look for one token sees afterwards.
    limit::decision said{};
    // How long a ban of the bucket still lasts; 0: there is none.
    base::duration banned_for{0};
    // An operator has banned it, and not the limit's penalty.
    bool by_operator = false;
};

class bucket_desk {
public:
    // More at a time fail at once.
    static constexpr std::size_t max_pending = 256;

    using listener = std::function<void(const bucket_answer&)>;

    bucket_desk(store::memory_store& local, const base::turn_clock& c);
    ~bucket_desk();

    // `hear` is called once, at once or later, if the worker lives until then. A question whose
    // policy is not the view's fails.
    void ask(const policy_view& view, bucket_question q, listener hear);

private:
    class pending;

    store::memory_store& local_;
    const base::turn_clock& clock_;
    std::list<pending> pending_;

    bucket_answer ask_local(const bucket_question& q, store::charge c);
};

}  // namespace gateway::limits
