// `memory_taking` answers one question in the memory store, in one critical section: the segments
// of its buckets are locked from construction to destruction. It is a local variable of
// memory_store's functions.
#pragma once

#include "gateway/base/hash.hpp"
#include "gateway/store/memory/bucket_custody.hpp"
#include "gateway/store/memory/decide.hpp"
#include "gateway/store/memory/memory_table.hpp"
#include "gateway/store/memory/shared_buckets.hpp"
#include "gateway/store/options.hpp"
#include "gateway/store/store.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>

namespace gateway::store {

// `memory_parts` holds what a memory store consists of.
struct memory_parts {
    explicit memory_parts(const memory_options& options)
        : on_full(options.on_full), buckets(options.max_buckets)
    {}

    const memory_options::when_full on_full;
    bucket_custody custody;
    memory_table buckets;
    shared_buckets shared;
    std::atomic<std::uint64_t> turned_away{0};
    // Nanoseconds added to the time of this store to make it Unix time.
    std::atomic<std::int64_t> to_unix{0};
    // Nanoseconds added to the time of this store to make it the clock on which windows that are
    // not aligned, and the parts of sliding limits, begin. See memory_store::begin_windows().
    std::int64_t to_windows = 0;
    // Number by which permits that are taken now are known. A bucket whose permits begin to be
    // counted anew gives them a higher number than those before; its segment is locked meanwhile.
    std::atomic<std::int64_t> permit{1};

    void next_permit() { permit.fetch_add(1); }
};

inline std::uint32_t limit_tag(std::string_view limit_name)
{
    return static_cast<std::uint32_t>(std::hash<std::string_view>{}(limit_name));
}

inline bucket_id id_of(const charge& c)
{
    const base::hash128& hash = c.bucket_name.hash();
    return {hash.low, static_cast<std::uint32_t>(hash.high)};
}

// Stands for the hash of the bucket that a limit's clients share for want of room.
inline constexpr std::uint64_t everybody = 0;

// Returns a moment of this store as a limit sees it for one of its buckets, unless it slides.
inline limit::moment moment_of(
    const memory_parts& in, const limit::terms& t, std::uint64_t bucket, std::int64_t now
)
{
    if (!t.has_windows()) {
        return now;
    }
    const std::int64_t shift =
        t.issued_in->shift(bucket, in.to_unix.load(std::memory_order_relaxed));
    return {now, t.issued_in->aligned() ? shift : shift + in.to_windows};
}

// Returns the same for a bucket of a segment, with its history if it slides.
inline limit::moment moment_with_past(
    const memory_parts& of, const segment& in, const limit::bucket& b, std::int64_t now
)
{
    return b.slides() ? limit::moment{now, in.history_of(b), of.to_windows} : limit::moment{now};
}

class memory_taking {
public:
    // Locks the segments of the charges' buckets. A look leaves no trace: the buckets do not change
    // to the terms of its limits.
    memory_taking(memory_parts& of, std::span<const charge> charges, std::int64_t now, intent what);
    ~memory_taking();
    memory_taking(const memory_taking&) = delete;
    memory_taking& operator=(const memory_taking&) = delete;

    // Finds a slot for every charge. Returns false if there is no room and on_full is `reject`.
    bool find_locations();

    // Decides all charges, and takes what was allowed if that is the intent.
    // Requires: find_locations() returned true.
    void decide(answer& a);

    // Takes tokens of the only charge, in place of find_locations() and decide(): whatever its
    // bucket holds, or, if not `into_debt`, at most what it holds. See limit::terms_to_correct_in.
    // Returns false if there is no room.
    bool take_anyway(std::int64_t tokens, bool into_debt);

    // The functions that store::decide() calls.
    standing& standing_for(std::size_t i) { return location_for(i).stands; }

    limit::moment moment(std::size_t i, const limit::terms& t) const
    {
        const location& p = location_for(i);
        if (t.keeps_history()) {
            return history_of(p) == nullptr ? at_parts()
                                            : limit::moment{now_, *history_of(p), at_parts().shift};
        }
        const bool shared = p.what == kind::shared;
        return moment_of(parts_, t, shared ? everybody : ids_[i].low, now_);
    }

    void apply_bans(std::size_t i, limit::decision& decision)
    {
        if (charges_[i].penalty != nullptr || segment_of(locations_[i]).has_bans(now_)) {
            punish(i, decision);
        }
    }

private:
    // `kind` says where a charge's bucket is: in a slot, promised one, or shared with others.
    enum class kind : std::uint8_t { kept, promised, shared };

    // One line of the cache.
    struct location {
        kind what;
        // Index of the first charge of the question with the same bucket, possibly this one.
        std::uint8_t first;

        std::uint32_t segment;
        // The bucket, or null while it is only promised.
        limit::bucket* at;
        // History of a shared bucket, of what a promised bucket begins with, or the copy that a
        // look makes. Null if there is none of these.
        limit::history* past;

        standing stands;
    };

    static_assert(sizeof(location) == 64);

    memory_parts& parts_;
    std::span<const charge> charges_;
    std::int64_t now_;
    intent what_;
    std::size_t locked_count_ = 0;
    bool shared_locked_ = false;

    // Only the first charges_.size() elements (of `locked_`: locked_count_) are ever filled.
    // Clearing all of them would cost 20 ns.
    union {
        std::array<location, max_charges> locations_;
    };

    union {
        std::array<bucket_id, max_charges> ids_;
    };

    // Indices of the locked segments, in ascending order, each once.
    std::array<std::uint32_t, max_charges> locked_;

    // Copies of histories that a look makes, by charge.
    std::unique_ptr<std::array<limit::history, max_charges>> copies_;

    std::span<const bucket_id> ids() const { return {ids_.data(), charges_.size()}; }

    const limit::terms& terms(std::size_t i) const { return charges_[i].limit->in_nanoseconds(); }

    limit::moment moment(std::size_t i) const { return moment(i, terms(i)); }

    // Returns the present moment, as a sliding limit without charges sees it.
    limit::moment at_parts() const { return {now_, parts_.to_windows}; }

    bool slides(std::size_t i) const { return terms(i).keeps_history(); }

    // Returns the history of a sliding limit's bucket, or null if nothing was taken.
    const limit::history* history_of(const location& p) const
    {
        return p.what == kind::kept && p.past == nullptr
                   ? &parts_.buckets.at(p.segment).history_of(*p.at)
                   : p.past;
    }

    void keep(location& p, const limit::bucket& b)
    {
        if (p.what == kind::shared) {
            *p.at = b;
        } else {
            segment_of(p).store(*p.at, b);
        }
    }

    template <typename Change>
    void slide(location& p, Change change)
    {
        if (p.what == kind::shared) {
            sliding_bucket b{*p.at, *p.past};
            change(b);
        } else {
            segment_of(p).slide(*p.at, change);
        }
    }

    segment& segment_of(const location& p) { return parts_.buckets.at(p.segment); }

    // Returns the location that stands for all charges of the same bucket: that of the first charge
    // of the bucket or, if it had no room, of the first charge of the shared bucket.
    location& location_for(std::size_t i)
    {
        return locations_[locations_[locations_[i].first].first];
    }

    const location& location_for(std::size_t i) const
    {
        return locations_[locations_[locations_[i].first].first];
    }

    void locate();
    void lock();
    void lock_shared();
    bool find_room();
    bool turn_away(std::size_t i);
    bool promise_room(std::size_t i);
    bool holds_shared_permits(std::size_t i);
    void begin_with_shared_debt(std::size_t i);
    void share(std::size_t i);
    void read_locations();
    void follow_terms(std::size_t i);
    void copy_sliding(std::size_t i, const limit::bucket& b, const limit::history& past);
    void punish(std::size_t i, limit::decision& decision);
    void keep_taken();
    void report_locations(answer& a);
    void note_holder(std::size_t i, const limit::decision& decision);
    void fulfil(std::size_t i);
};

}  // namespace gateway::store
