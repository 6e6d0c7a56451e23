#include "gateway/store/memory_taking.hpp"

#include <algorithm>
#include <cassert>

namespace gateway::store {

namespace {

// What a limit that would have allowed says when another one rejects: its bucket as it is.
limit::decision untouched(const limit::terms& t, const limit::bucket& b, limit::moment at)
{
    return limit::decision_in<base::duration>(limit::look(t, b, at));
}

}  // namespace

memory_taking::memory_taking(memory_parts& of, std::span<const charge> charges, std::int64_t now)
    : parts_(of), charges_(charges), now_(now)
{
    assert(charges.size() <= max_charges);
    locate();
    lock();
}

memory_taking::~memory_taking()
{
    for (std::size_t i = 0; i < charges_.size(); ++i) {
        if (places_[i].what == kind::promised && places_[i].first == i) {
            parts_.buckets.release(segment_of(places_[i]));
        }
    }
    if (shared_locked_) {
        parts_.shared.unlock();
    }
    for (std::size_t i = locked_count_; i-- > 0;) {
        parts_.buckets.at(locked_[i]).unlock();
    }
}

void memory_taking::locate()
{
    for (std::size_t i = 0; i < charges_.size(); ++i) {
        ids_[i] = id_of(parts_.key, charges_[i]);
        const std::size_t in = parts_.buckets.segment_of(ids_[i]);
        parts_.buckets.prefetch(in, ids_[i]);
        std::uint8_t first = 0;
        while (!(ids_[first] == ids_[i])) {
            ++first;
        }
        places_[i] = {
            .what = kind::kept,
            .taken = false,
            .first = first,
            .segment = static_cast<std::uint32_t>(in),
            .at = nullptr,
            .before = {},
            .after = {},
        };
    }
}

// In order, so that no two questions can wait for each other.
void memory_taking::lock()
{
    for (std::size_t i = 0; i < charges_.size(); ++i) {
        const auto end = locked_.begin() + static_cast<std::ptrdiff_t>(locked_count_);
        const auto at = std::lower_bound(locked_.begin(), end, places_[i].segment);
        if (at == end || *at != places_[i].segment) {
            std::move_backward(at, end, end + 1);
            *at = places_[i].segment;
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

bool memory_taking::find_places()
{
    bool all = true;
    for (std::size_t i = 0; i < charges_.size(); ++i) {
        place& p = places_[i];
        if (p.first == i) {
            p.at = segment_of(p).find(ids_[i]);
            all = all && p.at != nullptr;
        }
    }
    if (!all && !find_room()) {
        return false;
    }
    read_places();
    return true;
}

bool memory_taking::find_room()
{
    for (std::size_t i = 0; i < charges_.size(); ++i) {
        if (places_[i].first == i && places_[i].at == nullptr && !promise_room(i)) {
            return false;
        }
    }
    for (std::size_t i = 0; i < charges_.size(); ++i) {  // making room moves slots
        place& p = places_[i];
        if (p.what == kind::kept && p.first == i) {
            p.at = segment_of(p).find(ids_[i]);
        }
    }
    return true;
}

bool memory_taking::promise_room(std::size_t i)
{
    place& p = places_[i];
    if (parts_.buckets.reserve(segment_of(p), now_, ids())) {
        p.what = kind::promised;
        if (parts_.shared.any()) {
            // A client that gets a slot starts it with the shared debt, which holds its own.
            lock_shared();
            if (limit::bucket* const debt = parts_.shared.find(charges_[i].limit_name)) {
                const limit::moment at = moment_of(parts_, terms(i), everybody, now_);
                *debt = limit::rebased(terms(i), *debt, at);
                p.before = limit::moved(terms(i), *debt, at, moment(i));
            }
        }
        return true;
    }
    parts_.turned_away.fetch_add(1, std::memory_order_relaxed);
    if (parts_.on_full == memory_options::when_full::reject) {
        return false;
    }
    share(i);
    return true;
}

void memory_taking::share(std::size_t i)
{
    lock_shared();
    place& p = places_[i];
    p.what = kind::shared;
    p.at = &parts_.shared.make(charges_[i].limit_name);
    for (std::size_t j = 0; j < i; ++j) {  // two clients of one limit may share it in one question
        if (places_[j].at == p.at) {
            p.first = static_cast<std::uint8_t>(j);
            return;
        }
    }
}

// A bucket follows a changed rate from here on, whatever the answer: see limit::rebased.
void memory_taking::read_places()
{
    for (std::size_t i = 0; i < charges_.size(); ++i) {
        place& p = places_[i];
        if (p.at != nullptr) {
            if (!p.at->follows(terms(i))) {
                segment_of(p).store(*p.at, limit::rebased(terms(i), *p.at, moment(i)));
            }
            p.before = *p.at;
        }
        p.after = p.before;
    }
}

void memory_taking::decide(intent what, answer& a)
{
    for (std::size_t i = 0; i < charges_.size(); ++i) {
        place& p = shared_place(i);
        const limit::step s = limit::take(terms(i), p.after, moment(i), charges_[i].cost);
        if (s.allowed) {
            p.after = s.after;
            p.taken = true;
        }
        a.admitted = a.admitted && (s.allowed || !charges_[i].enforced);
        a.add(limit::decision_in<base::duration>(s));
    }
    if (a.admitted && what == intent::take) {
        keep_taken();
    } else {
        untake(a);
    }
}

void memory_taking::untake(answer& a)
{
    for (std::size_t i = 0; i < charges_.size(); ++i) {
        if (a.decisions()[i].allowed) {
            a.replace(i, untouched(terms(i), shared_place(i).before, moment(i)));
        }
    }
}

void memory_taking::keep_taken()
{
    for (std::size_t i = 0; i < charges_.size(); ++i) {
        place& p = places_[i];
        if (!p.taken) {
            continue;
        }
        switch (p.what) {
            case kind::kept:
                segment_of(p).store(*p.at, p.after);
                break;
            case kind::shared:
                *p.at = p.after;
                break;
            case kind::promised:
                if (p.after.is_full(now_)) {
                    break;  // nothing was taken: as good as never seen
                }
                parts_.buckets.fulfil(
                    segment_of(p),
                    {ids_[i], limit_tag(charges_[i].limit_name), p.after},
                    now_,
                    ids()
                );
                p.what = kind::kept;
                break;
        }
    }
}

}  // namespace gateway::store
