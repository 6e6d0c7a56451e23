// The local store: a fixed table of buckets, shared by all workers.
//
// Open addressing in cache-line slots, split into segments with one small lock each; a question
// that touches several segments locks them in order, so it is all or nothing across threads.
// A bucket is forgotten only when it is full anyway (full_at <= now), so eviction never forgives.
// Memory: bounded by max_buckets, taken lazily from the system as slots fill.
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
class swap_desk;

// Whether requests in flight are told of: they end with their process, but not with a change of it.
enum class in_flight : bool { left_out, told };

class memory_store {
public:
    explicit memory_store(const memory_options& options);
    ~memory_store();
    memory_store(const memory_store&) = delete;
    memory_store& operator=(const memory_store&) = delete;

    // Decides, and takes if that is wanted, at once; any thread. `now` must come from base::now()
    // (any thread's). False: the table has no room, nothing to forget, and on_full is `reject`;
    // nothing was taken, and `into` says nothing. With on_full `share`, a client that finds no room
    // is charged to its limit's one shared bucket.
    [[nodiscard]] bool decide(
        intent what, std::span<const charge> charges, base::instant now, answer& into
    );

    [[nodiscard]] bool take(std::span<const charge> charges, base::instant now, answer& into)
    {
        return decide(intent::take, charges, now, into);
    }

    // Gives back what take() of the same charges took; `given` is its answer. Less what may have
    // flowed back since then, so that no burst ever exceeds the limit (see limit::refunded); a
    // shared bucket, or one whose rate has changed, is given nothing back.
    void refund(std::span<const charge> charges, const answer& given, base::instant now);

    // Corrects what the bucket of this charge owes; the charge's cost is not looked at, its place
    // is the number of answer::place. A bucket that is not there owes nothing; one that is shared,
    // or whose rate has changed, stays as it is. A reset forgets the places in flight: given back
    // later, they free nothing. False: there is no room for the ban or the charge, and nothing
    // is changed.
    bool correct(const charge& c, const limit::correction& what, base::instant now);

    // What is to be added to base::now() to make it Unix time: windows may begin by the wall clock.
    // Any thread; again whenever the clock may have been set. A step of it gives nobody tokens but
    // those of the windows that it begins.
    void set_unix_time(base::duration to_unix);

    // A limit that has another rate from `now` on.
    struct changed_limit {
        std::string_view name;
        const limit::limit* limit;
    };

    // What clients owe under these limits is paid back at the new rate from `now` on, also by
    // those who do not come. Looks at the whole table, a segment at a time; any thread.
    void rebase(std::span<const changed_limit> changed, base::instant now);

    // Forgets full buckets in a part of the table, so that a whole pass takes about `passes` calls.
    // Any thread; called from each tick of one worker.
    void sweep(base::instant now, std::size_t passes);

    // Writes what buckets owe, and their bans. Any thread: others go on meanwhile, a segment at a
    // time.
    void save(snapshot_writer& to, base::instant now, in_flight places) const;

    // What save() wrote so long `ago`, of a store that nobody has used yet, until the file ends or
    // is damaged. Returns how many buckets found no room.
    std::size_t restore(bytes_reader& from, base::instant now, base::duration ago);

    // ---- to the process that follows

    // From now on whoever wants something of a bucket waits: no bucket changes until stay(), or
    // until decisions are made by those of `keeper`, which has got them all.
    void leave();
    void stay();
    void follow(bucket_keeper& keeper);

    // In the process that has the buckets: answers a request of the one that had them before. After
    // each answer some may be locked until the next one, or end_swap(). One thread.
    void begin_swaps();
    std::string answer_swap(std::string_view request);
    void end_swap();
    // That process has gone: its places in flight are free.
    void end_swaps();

    // The number of buckets remembered now.
    std::size_t size() const;

    // The number of moments that sliding buckets have room for outside of the table.
    std::size_t moments() const;

    // How often there was no room for a bucket, so that a shared one was charged or the request
    // rejected.
    std::uint64_t turned_away() const;

private:
    std::unique_ptr<memory_parts> parts_;
    std::unique_ptr<swap_desk> desk_;

    template <typename Act>
    bool wherever(std::span<const charge> charges, base::instant now, Act act);
};

}  // namespace gateway::store
