// `record_writer` and `record_reader` store buckets as bytes, one record after the other. A record
// is a bucket with its history, the rejections known of a bucket, or a bucket that a limit's
// clients share.
#pragma once

#include "gateway/store/memory/memory_store.hpp"
#include "gateway/store/memory/memory_taking.hpp"
#include "gateway/store/memory/snapshot_file.hpp"

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string_view>
#include <utility>

namespace gateway::store {

enum class record : std::uint8_t { end, bucket, sliding, offences, shared };

// Returns the bucket as seen on a clock that is `by` ahead. Permits know no time.
inline limit::bucket moved(const limit::bucket& b, std::int64_t by)
{
    return b.counts_in_flight() ? b : b.moved(by);
}

// `record_writer` appends records to `to`. All times count from the moment of writing. Buckets that
// are as good as never seen are left out.
class record_writer {
public:
    record_writer(snapshot_bytes& to, std::int64_t now, in_flight permits)
        : to_(to), now_(now), permits_(permits)
    {}

    void add(const slot& s, const limit::history& past)
    {
        if (is_of_use(s.bucket)) {
            to_.put(s.bucket.slides() ? record::sliding : record::bucket);
            to_.put(slot{s.id(), s.limit_tag, moved(s.bucket, -now_)});
            add_history(s.bucket, past);
        }
    }

    void add(const bucket_id& id, const limit::offences& o)
    {
        if (o.forgotten_at() <= now_) {
            return;
        }
        const limit::offences moved = o.moved(-now_);
        to_.put(record::offences);
        // The members are written one by one, with what would be padding between them, so that
        // equal records are equal bytes.
        static_assert(sizeof(bucket_id) == 16);
        to_.put(id.low);
        to_.put(id.high);
        to_.put(static_cast<std::uint32_t>(moved.kept().by_operator ? 1 : 0));
        to_.put(moved.kept().banned_until);
        to_.put(moved.kept().length);
        to_.put(moved.kept().forgotten_at);
        to_.put(static_cast<std::uint32_t>(moved.kept().rejections.size()));
        for (const std::int64_t at : moved.kept().rejections) {
            to_.put(at);
        }
    }

    // Adds a shared bucket. Permits are left out: their holders release them in this process, where
    // they were taken.
    void add(std::string_view limit_name, const shared_bucket& s)
    {
        if (is_of_use(s.bucket) && !s.bucket.counts_in_flight()) {
            to_.put(record::shared);
            to_.put_text(limit_name);
            to_.put(moved(s.bucket, -now_));
            add_history(s.bucket, s.past);
        }
    }

private:
    snapshot_bytes& to_;
    std::int64_t now_;
    in_flight permits_;

    bool is_of_use(const limit::bucket& b) const
    {
        return !b.is_full(now_) && (permits_ == in_flight::written || !b.counts_in_flight());
    }

    void add_history(const limit::bucket& b, const limit::history& past)
    {
        if (!b.slides()) {
            return;
        }
        to_.put(static_cast<std::uint32_t>(past.moments().size()));
        for (const limit::token_moment& m : past.moments()) {
            to_.put(limit::token_moment{m.at - now_, m.tokens});
        }
    }
};

// `record_reader` restores one record after the other, over what is there of the same name. `begin`
// is the moment of writing, on the clock of `now`.
class record_reader {
public:
    record_reader(memory_parts& into, bytes_reader& from, std::int64_t now, std::int64_t begin)
        : parts_(into), from_(from), now_(now), begin_(begin)
    {}

    // Declares that the segments of all buckets in the input are locked already.
    // Requires: no record of a shared bucket.
    void has_locks() { has_locks_ = true; }

    // Reads until the end, or damage. Returns how many buckets found no room.
    std::size_t read_all()
    {
        for (auto next = from_.get<record>(); next != record::end; next = from_.get<record>()) {
            switch (next) {
                case record::bucket:
                case record::sliding:
                    read_bucket(next == record::sliding);
                    break;
                case record::offences:
                    read_offences();
                    break;
                case record::shared:
                    read_shared();
                    break;
                default:
                    from_.call_damaged();
            }
        }
        return lost_;
    }

private:
    memory_parts& parts_;
    bytes_reader& from_;
    std::int64_t now_;
    std::int64_t begin_;
    std::size_t lost_ = 0;
    bool has_locks_ = false;

    std::unique_lock<segment> locked(segment& s) const
    {
        return has_locks_ ? std::unique_lock<segment>{} : std::unique_lock{s};
    }

    limit::history read_history()
    {
        limit::history past;
        for (auto left = from_.get<std::uint32_t>(); left > 0 && !from_.damaged(); --left) {
            const auto m = from_.get<limit::token_moment>();
            past.take(m.at + begin_, m.tokens);
        }
        return past;
    }

    void read_bucket(bool slides)
    {
        auto s = from_.get<slot>();
        const limit::history past = slides ? read_history() : limit::history{};
        s.bucket = moved(s.bucket, begin_);
        if (s.bucket.is_full(now_)) {
            return;
        }
        segment& in = parts_.buckets.at(parts_.buckets.segment_of(s.id()));
        const auto lock = locked(in);
        if (limit::bucket* const known = in.find(s.id())) {
            put(in, *known, s.bucket, past);
            return;
        }
        if (!(slides ? parts_.buckets.reserve_sliding(in, now_, {})
                     : parts_.buckets.reserve(in, now_, {}))) {
            ++lost_;
            return;
        }
        put(in, parts_.buckets.fulfil(in, s, now_, {}), s.bucket, past);
    }

    static void put(
        segment& in, limit::bucket& at, const limit::bucket& b, const limit::history& past
    )
    {
        in.store(at, b);
        if (b.slides()) {
            in.slide(at, [&past](sliding_bucket& sliding) { sliding.past = past; });
        }
    }

    void read_offences()
    {
        bucket_id id;
        id.low = from_.get<std::uint64_t>();
        id.high = from_.get<std::uint32_t>();
        limit::offences::record r;
        r.by_operator = from_.get<std::uint32_t>() != 0;
        r.banned_until = from_.get<std::int64_t>();
        r.length = from_.get<std::int64_t>();
        r.forgotten_at = from_.get<std::int64_t>();
        for (auto left = from_.get<std::uint32_t>(); left > 0 && !from_.damaged(); --left) {
            r.rejections.push_back(from_.get<std::int64_t>());
        }
        const limit::offences o = limit::offences{std::move(r)}.moved(begin_);
        if (o.forgotten_at() <= now_) {
            return;
        }
        segment& in = parts_.buckets.at(parts_.buckets.segment_of(id));
        const auto lock = locked(in);
        limit::offences* kept = in.find_offences(id);
        if (kept == nullptr) {
            kept = parts_.buckets.make_offences(in, id, now_);
        }
        if (kept == nullptr) {
            ++lost_;
            return;
        }
        *kept = o;
        in.note(o);
    }

    void read_shared()
    {
        const std::string_view name = from_.text();
        const limit::bucket b = moved(from_.get<limit::bucket>(), begin_);
        const limit::history past = b.slides() ? read_history() : limit::history{};
        const std::lock_guard locked{parts_.shared};
        shared_bucket& shared = parts_.shared.make(name, now_);
        shared.bucket = b;
        shared.past = past;
    }
};

}  // namespace gateway::store
