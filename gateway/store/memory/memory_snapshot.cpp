#include "gateway/store/memory/memory_snapshot.hpp"

#include "gateway/base/hashed_name.hpp"
#include "gateway/store/memory/memory_records.hpp"

#include <algorithm>
#include <array>
#include <mutex>

namespace gateway::store {

namespace {

// `header` is the beginning of a file. It tells files of another version or build of the gateway,
// whose bytes may mean something else.
struct header {
    std::array<char, 8> format{'g', 'w', 'b', 'u', 'c', 'k', '0', '2'};
    base::hash_key hash_key{};
    // Tag of a known name, which tells how this build finds limits by their names.
    std::uint32_t tag = limit_tag("gateway");
    std::uint32_t slot_size = sizeof(slot);
    // Nanoseconds since the Unix epoch, or on the monotonic clock in a handover.
    std::int64_t written = 0;
};

}  // namespace

void memory_store::save(snapshot_writer& to, base::instant now, in_flight permits) const
{
    snapshot_bytes bytes;
    bytes.put(now.time_since_epoch().count() + parts_->to_windows);
    record_writer records{bytes, now.time_since_epoch().count(), permits};
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
    bytes.put(parts_->permit.load());
    to.put(bytes.bytes());
}

std::size_t memory_store::restore(bytes_reader& from, base::instant now, base::duration ago)
{
    const std::int64_t at = now.time_since_epoch().count();
    const std::int64_t begin = at - ago.count();
    parts_->to_windows = from.get<std::int64_t>() - begin;
    const std::size_t lost = record_reader{*parts_, from, at, begin}.read_all();
    // Files of older versions end without this number.
    parts_->permit = from.at_end() ? 1 : std::max<std::int64_t>(from.get<std::int64_t>(), 1);
    return lost;
}

namespace {

// Writes the whole file. `written` is the present time on the clock that its age will be measured
// by.
std::optional<std::string> save_all(
    const memory_store& s,
    snapshot_writer& to,
    base::duration written,
    base::instant now,
    in_flight p
)
{
    header h;
    h.hash_key = base::process_hash_key();
    h.written = written.count();
    snapshot_bytes first;
    first.put(h);
    to.put(first.bytes());
    s.save(to, now, p);
    return to.finish();
}

// Reads the whole file. `clock` is the present time on the clock that the file was written with.
std::optional<restored> restore_all(
    memory_store& s, const std::string& path, base::duration clock, base::instant now
)
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
    r.ago = std::max(clock - base::duration{h.written}, base::duration{0});
    base::set_process_hash_key(h.hash_key);
    r.lost = s.restore(*from, now, r.ago);
    r.buckets = s.size();
    r.complaint = from->damaged() ? "is damaged, and was read in part" : "";
    return r;
}

}  // namespace

std::optional<std::string> save_snapshot(const memory_store& s, const std::string& path)
{
    snapshot_writer to{path};
    return save_all(s, to, base::unix_time(), base::now(), in_flight::left_out);
}

std::optional<restored> restore_snapshot(memory_store& s, const std::string& path)
{
    return restore_all(s, path, base::unix_time(), base::now());
}

std::optional<std::string> hand_over(const memory_store& s, int file)
{
    snapshot_writer to{file};
    const base::instant now = base::now();
    return save_all(s, to, now.time_since_epoch(), now, in_flight::written);
}

std::optional<restored> take_over(memory_store& s, int file)
{
    const base::instant now = base::now();
    const std::string path = "/proc/self/fd/" + std::to_string(file);
    auto read = restore_all(s, path, now.time_since_epoch(), now);
    s.begin_swaps();
    return read;
}

}  // namespace gateway::store
