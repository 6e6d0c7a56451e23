// `memory_store` is the local store: a fixed table of buckets, shared by all workers.
//
// It uses open addressing in slots of half a cache line, split into segments with one small lock
// each. A question that touches several segments locks them in order, so it is all or nothing
// across threads. A bucket is forgotten only when it is full (full_at <= now), so eviction never
// forgives a debt. Memory is bounded by max_buckets and taken from the system as slots fill.
#pragma once

#include "gateway/limit/correction.hpp"
#include "gateway/store/memory/bucket_custody.hpp"
#include "gateway/store/memory/snapshot_file.hpp"
#include "gateway/store/options.hpp"
#include "gateway/store/store.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace gateway::store {

struct memory_parts;
class swap_server;

// `in_flight` says whether permits of requests in flight are written. They end with their process,
// but not when the next process takes over from it.
enum class in_flight : bool { left_out, written };

class memory_store {
public:
    explicit memory_store(const memory_options& options);
    ~memory_store();
    memory_store(const memory_store&) = delete;
    memory_store& operator=(const memory_store&) = delete;

    // Decides at once and, if the intent is to take, takes the tokens. Returns false if the table
    // has no room, nothing to forget, and on_full is `reject`; then nothing was taken, and `into`
    // is meaningless. With on_full `share`, a client that finds no room is charged to its limit's
    // one shared bucket.
    // Requires: `now` comes from base::now(), on any thread.
    // Thread: any.
    [[nodiscard]] bool decide(
        intent what, std::span<const charge> charges, base::instant now, answer& into
    );

    [[nodiscard]] bool take(std::span<const charge> charges, base::instant now, answer& into)
    {
        return decide(intent::take, charges, now, into);
    }

    // Refunds what take() of the same charges took; `given` is its answer. Keeps what may have
    // flowed back since then, so that no burst ever exceeds the limit (see limit::refunded).
    // Refunds no tokens to a bucket whose rate has changed.
    void refund(std::span<const charge> charges, const answer& given, base::instant now);

    // Corrects what the bucket of this charge owes. Ignores the charge's cost; its `permit` is the
    // number of answer::permit(). A bucket that is not there owes nothing. Refunds of what was
    // taken from a shared bucket go there, and a reset by a request refunds it what `what.of` says.
    // A bucket whose rate has changed takes what limit::terms_to_correct_in() allows, and every
    // correction by an operator. A reset forgets the permits in flight: released later, they free
    // nothing. Returns false if there is no room for the ban or the charge, or if a shared bucket
    // is in another process; it is not changed then.
    bool correct(const charge& c, const limit::correction& what, base::instant now);

    // Sets what is added to base::now() to make it Unix time, as windows may begin by the wall
    // clock. Called again whenever the clock may have been set. A step of the clock gives nobody
    // tokens except those of the windows that it begins.
    // Thread: any.
    void set_unix_time(base::duration to_unix);

    // Sets what is added to base::now() to get the clock on which windows that are not aligned, and
    // the parts of sliding limits, begin: Unix time as it was when the process began. A step of the
    // clock does not move them. restore() goes on with the clock of the process that the buckets
    // were first in.
    // Requires: the store has not been used or restored.
    void begin_windows(base::duration to_unix);

    // `changed_limit` is a limit that has another rate from `now` on.
    struct changed_limit {
        std::string_view name;
        const limit::limit* limit;
    };

    // Lets clients pay back what they owe under these limits at the new rate from `now` on, even if
    // they send no requests. Looks at the whole table, one segment at a time.
    // Thread: any.
    void rebase(std::span<const changed_limit> changed, base::instant now);

    // Forgets full buckets in a part of the table, so that a whole pass takes about `passes` calls.
    // Called in each tick of one worker.
    // Thread: any.
    void sweep(base::instant now, std::size_t passes);

    // Writes what buckets owe, and their bans. Other threads go on meanwhile, as one segment is
    // locked at a time.
    // Thread: any.
    void save(snapshot_writer& to, base::instant now, in_flight permits) const;

    // Restores what save() wrote `ago` earlier, until the file ends or is damaged. Returns the
    // number of buckets that found no room.
    // Requires: a store that nobody has used yet.
    std::size_t restore(bytes_reader& from, base::instant now, base::duration ago);

    // ---- Handover to the next process.

    // Stops changes of buckets: each decision waits until stay(), or until follow() names the
    // process that has got all buckets.
    void leave();
    void stay();
    void follow(bucket_keeper& keeper);

    // These functions serve, in the process that has the buckets, the one that had them before.
    // begin_swaps() is called once the buckets have come. answer_swap() answers a request, after
    // which some buckets may stay locked until the next one, or end_swap().
    // Thread: one.
    void begin_swaps();
    std::string answer_swap(std::string_view request);
    void end_swap();
    // Frees the permits held by that process, which has gone.
    void end_swaps();

    // Number of buckets remembered now.
    std::size_t size() const;

    // Number of moments that sliding buckets have room for outside of the table.
    std::size_t moments() const;

    // Number of times that there was no room for a bucket, so that a shared one was charged or the
    // request rejected.
    std::uint64_t turned_away() const;

private:
    std::unique_ptr<memory_parts> parts_;
    std::unique_ptr<swap_server> swap_server_;

    template <typename Act>
    bool act_on_owner(std::span<const charge> charges, base::instant now, Act act);
};

}  // namespace gateway::store
