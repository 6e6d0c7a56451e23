// `timer_wheel` keeps coarse deadlines for very many things, most of which never expire. It is an
// intrusive hashed timing wheel (Varghese, Lauck 1987). Pure: time comes in with each call.
// Thread: one thread only; each worker has its own wheel.
//
// Moving a deadline later only stores the number; the entry is linked again when its slot comes up
// (lazy re-link). A deadline fires at or after its moment, late by at most one `tick` plus the
// distance between calls to advance().
#pragma once

#include "gateway/base/clock.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gateway::base {

class timer_wheel;

// `timer_entry` is something with one deadline, on one wheel at a time. Derive from it, or hold
// one. It unlinks itself when it is destroyed.
class timer_entry {
public:
    timer_entry() = default;
    timer_entry(const timer_entry&) = delete;
    timer_entry& operator=(const timer_entry&) = delete;

    bool armed() const { return armed_; }

    instant deadline() const { return deadline_; }

protected:
    virtual ~timer_entry();

private:
    friend class timer_wheel;
    void unlink();

    // Called by advance() after it has disarmed the entry; may arm it again or destroy *this.
    virtual void expired(instant now) = 0;

    timer_entry* next_ = nullptr;
    // The pointer that points at this entry; null while the entry is in no slot.
    timer_entry** link_ = nullptr;

    instant deadline_{};
    // The deadline that chose the entry's slot; without meaning while the entry is in no slot.
    instant linked_for_{};

    bool armed_ = false;
};

class timer_wheel {
public:
    timer_wheel(instant start, duration tick, std::size_t slots);
    timer_wheel(const timer_wheel&) = delete;
    timer_wheel& operator=(const timer_wheel&) = delete;

    // Disarms all entries that are left.
    ~timer_wheel();

    void arm(timer_entry& entry, instant deadline);

    // Disarms the entry, and leaves it linked for the next arm(). Does nothing if it is not armed.
    void disarm(timer_entry& entry);

    // Fires every entry whose deadline lies at or before the last whole tick, and possibly some
    // between that tick and `now`, but never one after `now`. Does nothing if `now` is before the
    // last one.
    // Requires: not called from expired().
    void advance(instant now);

private:
    std::vector<timer_entry*> slots_;
    instant start_;
    duration tick_;
    // Number of whole ticks since start_ that advance() has seen.
    std::int64_t ticks_done_ = 0;

    timer_entry*& slot(std::int64_t tick);
    void link(timer_entry& entry);
    void fire(timer_entry*& slot, instant now);
};

}  // namespace gateway::base
