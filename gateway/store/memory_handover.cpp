#include "gateway/store/memory_handover.hpp"

#include <algorithm>
#include <vector>

namespace gateway::store {

namespace {

enum class verdict : std::uint8_t { swapped, others };

// What is known of these buckets; their segments are locked.
std::string records_of(memory_parts& parts, std::span<const bucket_id> ids, std::int64_t now)
{
    snapshot_bytes bytes;
    record_writer records{bytes, now, in_flight::told};
    for (const bucket_id& id : ids) {
        segment& in = parts.buckets.at(parts.buckets.segment_of(id));
        if (const limit::bucket* const b = in.find(id)) {
            records.add(slot{id, in.tag_of(*b), *b}, in.history_of(*b));
        }
        if (const limit::offences* const o = in.find_offences(id)) {
            records.add(id, *o);
        }
    }
    bytes.put(record::end);
    return std::string{bytes.bytes()};
}

// Instead of what is known of them; their segments are locked.
void put(
    memory_parts& parts, std::span<const bucket_id> ids, std::string_view records, std::int64_t now
)
{
    for (const bucket_id& id : ids) {
        segment& in = parts.buckets.at(parts.buckets.segment_of(id));
        if (limit::bucket* const b = in.find(id)) {
            in.make_full(*b, now);
        }
        if (limit::offences* const o = in.find_offences(id)) {
            *o = {};
        }
    }
    bytes_reader from{records};
    record_reader reader{parts, from, now, now};
    reader.has_locks();
    reader.read_all();
}

std::vector<bucket_id> ids_of(std::span<const charge> charges)
{
    std::vector<bucket_id> ids;
    for (const charge& c : charges) {
        ids.push_back(id_of(c));
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

std::string bucket_swap::copies() const
{
    const std::vector<bucket_id> ids = ids_of(charges_);
    const segment_locks locked{parts_.buckets, ids};
    return records_of(parts_, ids, now_);
}

void bucket_swap::write_request(std::string_view before, std::string_view after)
{
    request_.clear();
    request_.put(now_);
    request_.put(static_cast<std::uint32_t>(charges_.size()));
    for (const bucket_id& id : ids_of(charges_)) {
        request_.put(id);
    }
    request_.put_text(before);
    request_.put_text(after);
}

bool bucket_swap::settle(std::string_view answer)
{
    bytes_reader from{answer};
    if (from.get<verdict>() == verdict::swapped) {
        return true;
    }
    const std::vector<bucket_id> ids = ids_of(charges_);
    const segment_locks locked{parts_.buckets, ids};
    parts_.place = std::max(parts_.place.load(), from.get<std::int64_t>());
    put(parts_, ids, from.text(), now_);
    return false;
}

std::string swap_desk::answer(std::string_view request)
{
    release();
    bytes_reader from{request};
    const auto now = from.get<std::int64_t>();
    std::vector<bucket_id> ids(std::min<std::size_t>(from.get<std::uint32_t>(), max_charges));
    for (bucket_id& id : ids) {
        id = from.get<bucket_id>();
    }
    const std::string_view before = from.text();
    const std::string_view after = from.text();
    held_.emplace(parts_.buckets, ids);
    const std::string present = records_of(parts_, ids, now);
    snapshot_bytes answer;
    if (present == before) {
        put(parts_, ids, after, now);
        answer.put(verdict::swapped);
        release();
    } else {
        answer.put(verdict::others);
        answer.put(parts_.place.load());
        answer.put_text(present);
    }
    return std::string{answer.bytes()};
}

}  // namespace gateway::store
