#include "gateway/store/memory_snapshot.hpp"

#include "gateway/base/hashed_name.hpp"
#include "gateway/store/memory_taking.hpp"

#include <algorithm>
#include <array>
#include <mutex>

namespace gateway::store {

namespace {

// What a file begins with. Another version or build of the gateway may mean something else.
struct header {
    std::array<char, 8> format{'g', 'w', 'b', 'u', 'c', 'k', '0', '1'};
    base::hash_key hash_key{};
    // How this build finds limits by their names.
    std::uint32_t tag = limit_tag("gateway");
    std::uint32_t slot_size = sizeof(slot);
    // Since the Unix epoch, in ns.
    std::int64_t written = 0;
};

enum class record : std::uint8_t { end, bucket, sliding, offences, shared };

// All times in the file count from the moment of writing.
class record_writer {
public:
    record_writer(snapshot_bytes& to, std::int64_t now) : to_(to), now_(now) {}

    void add(const slot& s, const limit::history& past)
    {
        if (is_of_use(s.bucket)) {
            to_.put(s.bucket.slides() ? record::sliding : record::bucket);
            to_.put(slot{s.id(), s.limit_tag, s.bucket.moved(-now_)});
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
        to_.put(id);
        to_.put(moved.kept().banned_until);
        to_.put(moved.kept().length);
        to_.put(moved.kept().forgotten_at);
        to_.put(static_cast<std::uint32_t>(moved.kept().rejections.size()));
        for (const std::int64_t at : moved.kept().rejections) {
            to_.put(at);
        }
    }

    void add(std::string_view limit_name, const shared_bucket& s)
    {
        if (is_of_use(s.bucket)) {
            to_.put(record::shared);
            to_.put_text(limit_name);
            to_.put(s.bucket.moved(-now_));
            add_history(s.bucket, s.past);
        }
    }

private:
    snapshot_bytes& to_;
    std::int64_t now_;

    bool is_of_use(const limit::bucket& b) const
    {
        return !b.is_full(now_) && !b.counts_in_flight();
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

// Puts back one record after the other. `begin`: the moment of writing, on the clock of now.
class record_reader {
public:
    record_reader(memory_parts& into, snapshot_reader& from, std::int64_t now, std::int64_t begin)
        : parts_(into), from_(from), now_(now), begin_(begin)
    {}

    // Until the end, or damage. Returns how many found no room.
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
    snapshot_reader& from_;
    std::int64_t now_;
    std::int64_t begin_;
    std::size_t lost_ = 0;

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
        s.bucket = s.bucket.moved(begin_);
        if (s.bucket.is_full(now_)) {
            return;
        }
        segment& in = parts_.buckets.at(parts_.buckets.segment_of(s.id()));
        const std::lock_guard locked{in};
        if (!(slides ? parts_.buckets.reserve_sliding(in, now_, {})
                     : parts_.buckets.reserve(in, now_, {}))) {
            ++lost_;
            return;
        }
        limit::bucket& at = parts_.buckets.fulfil(in, s, now_, {});
        if (slides) {
            in.slide(at, [&past](sliding_bucket& b) { b.past = past; });
        }
    }

    void read_offences()
    {
        const auto id = from_.get<bucket_id>();
        limit::offences::record r;
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
        const std::lock_guard locked{in};
        limit::offences* const place = parts_.buckets.make_offences(in, id, now_);
        if (place == nullptr) {
            ++lost_;
            return;
        }
        *place = o;
        in.note(o);
    }

    void read_shared()
    {
        const std::string_view name = from_.text();
        const limit::bucket b = from_.get<limit::bucket>().moved(begin_);
        const limit::history past = b.slides() ? read_history() : limit::history{};
        const std::lock_guard locked{parts_.shared};
        parts_.shared.make(name) = {b, past};
    }
};

}  // namespace

void memory_store::save(snapshot_writer& to, base::instant now) const
{
    snapshot_bytes bytes;
    bytes.put(now.time_since_epoch().count() + parts_->to_earlier);
    record_writer records{bytes, now.time_since_epoch().count()};
    for (std::size_t i = 0; i < parts_->buckets.segments(); ++i) {
        segment& in = parts_->buckets.at(i);
        in.lock();
        in.for_each_bucket([&](const slot& s, const limit::history& past) { records.add(s, past); }
        );
        in.for_each_offences([&](const bucket_id& id, const limit::offences& o) {
            records.add(id, o);
        });
        in.unlock();
        to.put(bytes.bytes());
        bytes.clear();
    }
    {
        const std::lock_guard locked{parts_->shared};
        parts_->shared.for_each([&](std::string_view name, const shared_bucket& s) {
            records.add(name, s);
        });
    }
    bytes.put(record::end);
    to.put(bytes.bytes());
}

std::size_t memory_store::restore(snapshot_reader& from, base::instant now, base::duration ago)
{
    const std::int64_t at = now.time_since_epoch().count();
    const std::int64_t begin = at - ago.count();
    parts_->to_earlier = from.get<std::int64_t>() - begin;
    return record_reader{*parts_, from, at, begin}.read_all();
}

std::optional<std::string> save_snapshot(const memory_store& s, const std::string& path)
{
    snapshot_writer to{path};
    header h;
    h.hash_key = base::process_hash_key();
    h.written = base::unix_time().count();
    snapshot_bytes first;
    first.put(h);
    to.put(first.bytes());
    s.save(to, base::now());
    return to.finish();
}

std::optional<restored> restore_snapshot(memory_store& s, const std::string& path)
{
    auto [from, complaint] = snapshot_reader::open(path);
    if (!from) {
        return complaint.empty() ? std::nullopt : std::optional{restored{.complaint = complaint}};
    }
    const auto h = from->get<header>();
    const header ours;
    if (h.format != ours.format || h.tag != ours.tag || h.slot_size != ours.slot_size) {
        return restored{.complaint = "was written by another version"};
    }
    restored r;
    r.ago = std::max(base::unix_time() - base::duration{h.written}, base::duration{0});
    base::set_process_hash_key(h.hash_key);
    r.lost = s.restore(*from, base::now(), r.ago);
    r.buckets = s.size();
    r.complaint = from->damaged() ? "is damaged, and was read in part" : "";
    return r;
}

}  // namespace gateway::store
