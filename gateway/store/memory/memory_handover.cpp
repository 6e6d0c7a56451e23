#include "gateway/store/memory/memory_handover.hpp"

#include <algorithm>
#include <vector>

namespace gateway::store {

namespace {

enum class swap_result : std::uint8_t { swapped, others, no_room };

// Returns all that is known of a bucket, as records.
// Requires: its segment is locked.
std::string record_of(memory_parts& parts, const bucket_id& id, std::int64_t now)
{
    snapshot_bytes bytes;
    record_writer records{bytes, now, in_flight::written};
    segment& in = parts.buckets.at(parts.buckets.segment_of(id));
    if (const limit::bucket* const b = in.find(id)) {
        records.add(slot{id, in.tag_of(*b), *b}, in.history_of(*b));
    }
    if (const limit::offences* const o = in.find_offences(id)) {
        records.add(id, *o);
    }
    bytes.put(record::end);
    return std::string{bytes.bytes()};
}

// Replaces what is known of a bucket with `record`. Returns false if there is no room for it.
// Requires: its segment is locked.
bool put(memory_parts& parts, const bucket_id& id, std::string_view record, std::int64_t now)
{
    segment& in = parts.buckets.at(parts.buckets.segment_of(id));
    if (limit::bucket* const b = in.find(id)) {
        in.make_full(*b, now);
    }
    if (limit::offences* const o = in.find_offences(id)) {
        *o = {};
    }
    bytes_reader from{record};
    record_reader reader{parts, from, now, now};
    reader.has_locks();
    return reader.read_all() == 0;
}

// True if there is room for `fresh` in place of `present`. Leaves `present` there.
bool fits(
    memory_parts& parts,
    const bucket_id& id,
    std::string_view present,
    std::string_view fresh,
    std::int64_t now
)
{
    if (present == fresh) {
        return true;
    }
    const bool placed = put(parts, id, fresh, now);
    return put(parts, id, present, now) && placed;
}

// Returns the number of permits held, or 0 if the bucket counts something else.
std::int64_t requests_in(const limit::bucket& b)
{
    return b.counts_in_flight() ? b.owed() : 0;
}

// Returns the ids of the charges' buckets, each once.
std::vector<bucket_id> ids_of(std::span<const charge> charges)
{
    std::vector<bucket_id> ids;
    for (const charge& c : charges) {
        if (std::find(ids.begin(), ids.end(), id_of(c)) == ids.end()) {
            ids.push_back(id_of(c));
        }
    }
    return ids;
}

}  // namespace

segment_locks::segment_locks(memory_table& table, std::span<const bucket_id> ids) : table_(table)
{
    for (const bucket_id& id : ids) {
        locked_.push_back(table.segment_of(id));
    }
    std::sort(locked_.begin(), locked_.end());
    locked_.erase(std::unique(locked_.begin(), locked_.end()), locked_.end());
    for (const std::size_t i : locked_) {
        table_.at(i).lock();
    }
}

segment_locks::~segment_locks()
{
    for (const std::size_t i : locked_) {
        table_.at(i).unlock();
    }
}

bucket_swap::bucket_swap(memory_parts& parts, std::span<const charge> charges, base::instant now)
    : parts_(parts), ids_(ids_of(charges)), now_(now.time_since_epoch().count())
{}

std::vector<std::string> bucket_swap::copies() const
{
    const segment_locks locked{parts_.buckets, ids_};
    std::vector<std::string> all;
    for (const bucket_id& id : ids_) {
        all.push_back(record_of(parts_, id, now_));
    }
    return all;
}

void bucket_swap::write_request()
{
    const std::vector<std::string> after = copies();
    request_.clear();
    request_.put(now_);
    request_.put(static_cast<std::uint32_t>(ids_.size()));
    for (std::size_t i = 0; i < ids_.size(); ++i) {
        request_.put(ids_[i]);
        request_.put_text(before_[i]);
        request_.put_text(after[i]);
    }
}

bool bucket_swap::settle(std::string_view answer)
{
    bytes_reader from{answer};
    const auto result = from.get<swap_result>();
    if (result == swap_result::swapped) {
        return true;
    }
    const segment_locks locked{parts_.buckets, ids_};
    std::vector<bucket_id> both;
    if (result == swap_result::others) {
        parts_.permit = std::max(parts_.permit.load(), from.get<std::int64_t>());
    }
    for (std::size_t i = 0; i < ids_.size(); ++i) {
        const bool has_permit = result == swap_result::others
                                    ? put(parts_, ids_[i], from.text(), now_)
                                    : put(parts_, ids_[i], before_[i], now_) && from.get<bool>();
        if (has_permit) {
            both.push_back(ids_[i]);
        }
    }
    ids_ = both;
    return false;
}

void swap_server::begin()
{
    parts_.buckets.for_each_bucket([this](slot& s, limit::history&) { note(s.id(), {}, s.bucket); }
    );
}

// Counts the permits that the other process has taken or released by its change of a bucket.
void swap_server::note(const bucket_id& id, const limit::bucket& before, const limit::bucket& after)
{
    if (requests_in(after) == 0) {
        permits_.erase(id);
        return;
    }
    permits& theirs = permits_[id];
    const std::int64_t first = after.first_permit();
    if (theirs.first != first) {
        theirs = {.first = first};
    }
    const bool goes_on = requests_in(before) > 0 && before.first_permit() == first;
    theirs.count += requests_in(after) - (goes_on ? requests_in(before) : 0);
}

// Returns a copy of the bucket, or an empty one if it is not there.
// Requires: its segment is locked.
limit::bucket swap_server::present(const bucket_id& id) const
{
    const limit::bucket* const b = parts_.buckets.at(parts_.buckets.segment_of(id)).find(id);
    return b == nullptr ? limit::bucket{} : *b;
}

void swap_server::end()
{
    release();
    for (const auto& [id, theirs] : permits_) {
        const segment_locks locked{parts_.buckets, {&id, 1}};
        segment& in = parts_.buckets.at(parts_.buckets.segment_of(id));
        limit::bucket* const b = in.find(id);
        if (b != nullptr && requests_in(*b) > 0 && b->first_permit() == theirs.first) {
            const std::int64_t left = std::max<std::int64_t>(b->owed() - theirs.count, 0);
            in.store(*b, limit::bucket::in_flight(left, theirs.first));
        }
    }
    permits_.clear();
}

std::string swap_server::answer(std::string_view request)
{
    release();
    bytes_reader from{request};
    const auto now = from.get<std::int64_t>();
    std::vector<swapped_bucket> all(std::min<std::size_t>(from.get<std::uint32_t>(), max_charges));
    std::vector<bucket_id> ids;
    for (swapped_bucket& b : all) {
        b.id = from.get<bucket_id>();
        b.before = from.text();
        b.after = from.text();
        ids.push_back(b.id);
    }
    held_.emplace(parts_.buckets, ids);
    bool same = true;
    bool fit = true;
    for (swapped_bucket& b : all) {
        b.present = record_of(parts_, b.id, now);
        b.fits = fits(parts_, b.id, b.present, b.after, now);
        same = same && b.present == b.before;
        fit = fit && b.fits;
    }
    snapshot_bytes answer;
    answer.put(!fit ? swap_result::no_room : same ? swap_result::swapped : swap_result::others);
    if (fit && !same) {
        answer.put(parts_.permit.load());
    }
    for (const swapped_bucket& b : all) {
        if (!fit) {
            answer.put(b.fits);
        } else if (same) {
            const limit::bucket before = present(b.id);
            put(parts_, b.id, b.after, now);
            note(b.id, before, present(b.id));
        } else {
            answer.put_text(b.present);
        }
    }
    if (same || !fit) {
        release();
    }
    return std::string{answer.bytes()};
}

}  // namespace gateway::store
