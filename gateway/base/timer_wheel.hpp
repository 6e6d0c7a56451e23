// Coarse deadlines for very many things that mostly never fire: an intrusive hashed timing wheel
// (Varghese, Lauck 1987). Pure: time comes in with each call. Single-threaded, one per worker.
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

// Something with one deadline, on one wheel at a time. Derive from it, or hold one. Unlinks itself
// when destroyed.
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

    // Called by advance(), when the entry is disarmed already; may re-arm or destroy *this.
    virtual void expired(instant now) = 0;

    timer_entry* next_ = nullptr;
    // The pointer that points at this entry; null when it is in no slot.
    timer_entry** link_ = nullptr;

    instant deadline_{};
    // The deadline that the entry's slot was chosen by; means nothing when it is in no slot.
    instant linked_for_{};

    bool armed_ = false;
};

class timer_wheel {
public:
    timer_wheel(instant start, duration tick, std::size_t slots);
    timer_wheel(const timer_wheel&) = delete;
    timer_wheel& operator=(const timer_wheel&) = delete;

    // Disarms what is left.
    ~timer_wheel();

    void arm(timer_entry& entry, instant deadline);

    // Harmless if the entry is not armed. Leaves it linked, for the next arm().
    void disarm(timer_entry& entry);

    // Fires every entry whose deadline lies at or before the last whole tick, and possibly some
    // between it and `now`; never one after `now`. A `now` before the last one does nothing. Not to
    // be called from expired().
    void advance(instant now);

private:
    std::vector<timer_entry*> slots_;
    instant start_;
    duration tick_;
    // Whole ticks since start_ that advance() has seen.
    std::int64_t ticks_done_ = 0;

    timer_entry*& slot(std::int64_t tick);
    void link(timer_entry& entry);
    void fire(timer_entry*& slot, instant now);
};

}  // namespace gateway::base
