// Finds the buckets of a question: in a slot of their own, promised one, or shared with others.
#include "gateway/store/memory/memory_taking.hpp"

#include <algorithm>

namespace gateway::store {

void memory_taking::locate()
{
    for (std::size_t i = 0; i < charges_.size(); ++i) {
        const bucket_id& id = ids_[i] = id_of(charges_[i]);
        const bool beside = i > 0 && ids_[i - 1].high == id.high;
        const std::size_t in = beside ? locations_[i - 1].segment : parts_.buckets.segment_of(id);
        if (!beside) {
            parts_.buckets.prefetch(in, id);
        }
        if (slides(i)) {
            parts_.buckets.prefetch_history(in, id);
        }
        std::uint8_t first = 0;
        while (!(ids_[first] == id)) {
            ++first;
        }
        locations_[i] = {
            .what = kind::kept,
            .first = first,
            .segment = static_cast<std::uint32_t>(in),
            .at = nullptr,
            .past = nullptr,
            .stands = {},
        };
    }
}

// Locks the segments in order, so that no two questions can wait for each other.
void memory_taking::lock()
{
    for (std::size_t i = 0; i < charges_.size(); ++i) {
        // Most limits of a request have the same key, and so the same segment.
        if (i > 0 && locations_[i].segment == locations_[i - 1].segment) {
            continue;
        }
        const auto end = locked_.begin() + static_cast<std::ptrdiff_t>(locked_count_);
        const auto at = std::lower_bound(locked_.begin(), end, locations_[i].segment);
        if (at == end || *at != locations_[i].segment) {
            std::move_backward(at, end, end + 1);
            *at = locations_[i].segment;
            ++locked_count_;
        }
    }
    for (std::size_t i = 0; i < locked_count_; ++i) {
        parts_.buckets.at(locked_[i]).lock();
    }
}

void memory_taking::lock_shared()
{
    if (!shared_locked_) {
        parts_.shared.lock();
        shared_locked_ = true;
    }
}

bool memory_taking::find_locations()
{
    bool all = true;
    for (std::size_t i = 0; i < charges_.size(); ++i) {
        location& p = locations_[i];
        if (p.first == i) {
            p.at = segment_of(p).find(ids_[i]);
            all = all && p.at != nullptr;
        }
    }
    if (!all && !find_room()) {
        return false;
    }
    read_locations();
    return true;
}

bool memory_taking::find_room()
{
    for (std::size_t i = 0; i < charges_.size(); ++i) {
        const location& p = locations_[i];
        if (p.first == i && p.at == nullptr && !promise_room(i)) {
            return false;
        }
    }
    // Making room moves slots.
    for (std::size_t i = 0; i < charges_.size(); ++i) {
        location& p = locations_[i];
        if (p.what == kind::kept && p.first == i) {
            p.at = segment_of(p).find(ids_[i]);
        }
    }
    return true;
}

bool memory_taking::promise_room(std::size_t i)
{
    location& p = locations_[i];
    memory_table& table = parts_.buckets;
    if (holds_shared_permits(i)) {
        share(i);
        return true;
    }
    if (!(slides(i) ? table.reserve_sliding(segment_of(p), now_, ids())
                    : table.reserve(segment_of(p), now_, ids()))) {
        return turn_away(i);
    }
    p.what = kind::promised;
    if (slides(i)) {
        p.stands.before = limit::bucket::sliding(0, now_);
    }
    if (parts_.shared.any() && !terms(i).counts_permits()) {
        begin_with_shared_debt(i);
    }
    return true;
}

// True if the client has some of the shared permits. It gets no slot then, in which it would have
// as many again, since permits are released where they were taken.
bool memory_taking::holds_shared_permits(std::size_t i)
{
    if (!terms(i).counts_permits() || !parts_.shared.any()) {
        return false;
    }
    lock_shared();
    const shared_bucket* const shared = parts_.shared.find(charges_[i].limit_name);
    return shared != nullptr &&
           std::find(shared->holders.begin(), shared->holders.end(), ids_[i]) !=
               shared->holders.end();
}

// Begins a client's own bucket with the debt of the shared one, which includes the client's own
// debt.
void memory_taking::begin_with_shared_debt(std::size_t i)
{
    lock_shared();
    shared_bucket* const debt = parts_.shared.find(charges_[i].limit_name);
    if (debt == nullptr) {
        return;
    }
    location& p = locations_[i];
    const limit::terms& t = terms(i);
    if (what_ == intent::take) {
        debt->note_terms(t, now_);
    }
    if (slides(i) && what_ == intent::look) {
        copy_sliding(i, debt->bucket, debt->past);
    } else if (slides(i)) {
        debt->sliding().bring_to(t, at_parts());
        p.past = &debt->past;
        p.stands.before = debt->bucket;
    } else {
        const limit::moment at = moment_of(parts_, t, everybody, now_);
        const limit::bucket all = limit::rebased(t, debt->bucket, at);
        p.stands.before = limit::moved(t, all, at, moment(i));
        debt->bucket = what_ == intent::take ? all : debt->bucket;
    }
}

// Counts a bucket without room, and shares one. Returns false if on_full is `reject`.
bool memory_taking::turn_away(std::size_t i)
{
    if (what_ == intent::take) {
        parts_.turned_away.fetch_add(1, std::memory_order_relaxed);
    }
    if (parts_.on_full == memory_options::when_full::reject) {
        return false;
    }
    share(i);
    return true;
}

void memory_taking::share(std::size_t i)
{
    lock_shared();
    location& p = locations_[i];
    p.what = kind::shared;
    shared_bucket& everybodys = parts_.shared.make(charges_[i].limit_name, now_);
    if (what_ == intent::take) {
        everybodys.note_terms(terms(i), now_);
    }
    p.at = &everybodys.bucket;
    p.past = &everybodys.past;
    // Two clients of one limit may share the bucket in one question.
    for (std::size_t j = 0; j < i; ++j) {
        if (locations_[j].at == p.at) {
            p.first = static_cast<std::uint8_t>(j);
            return;
        }
    }
}

void memory_taking::read_locations()
{
    for (std::size_t i = 0; i < charges_.size(); ++i) {
        location& p = locations_[i];
        if (p.at != nullptr && !slides(i) && limit::is_current(terms(i), *p.at, moment(i))) {
            p.stands.before = *p.at;
        } else if (p.at != nullptr) {
            follow_terms(i);
        }
        p.stands.after = p.stands.before;
    }
}

// Makes a bucket follow a changed limit from here on, whatever the answer: see limit::rebased.
void memory_taking::follow_terms(std::size_t i)
{
    location& p = locations_[i];
    const limit::terms& t = terms(i);
    if (slides(i) && what_ == intent::look) {
        copy_sliding(i, *p.at, *history_of(p));
        return;
    }
    if (slides(i)) {
        slide(p, [&](sliding_bucket& b) { b.bring_to(t, at_parts()); });
        p.stands.before = *p.at;
        return;
    }
    p.stands.before = limit::rebased(t, *p.at, moment(i));
    if (what_ == intent::take) {
        keep(p, p.stands.before);
    }
}

void memory_taking::copy_sliding(std::size_t i, const limit::bucket& b, const limit::history& past)
{
    if (copies_ == nullptr) {
        copies_ = std::make_unique<std::array<limit::history, max_charges>>();
    }
    location& p = locations_[i];
    limit::history& copy = (*copies_)[i];
    copy = past;
    p.stands.before = b;
    p.past = &copy;
    sliding_bucket{p.stands.before, copy}.bring_to(terms(i), at_parts());
}

}  // namespace gateway::store
