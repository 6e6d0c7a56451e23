// Input: a byte for the wheel's size, then operations of three bytes each: what, which timer, when.
// The model is the obvious one: a deadline or none per timer.
#include "gateway/base/timer_wheel.hpp"

#include "tests/fuzz/require.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

namespace {

using namespace gateway;
using base::duration;
using base::instant;
using fuzz::require;

constexpr duration tick{16};

class race;

class timer final : public base::timer_entry {
public:
    explicit timer(race& of) : race_(of) {}

    std::optional<instant> expected;
    duration again{0};  // arms itself so far ahead when it fires, if not zero

private:
    race& race_;

    void expired(instant now) override;
};

class race {
public:
    explicit race(std::size_t slots) : wheel_(instant{}, tick, slots) { remake_all(); }

    void arm(std::size_t i, duration ahead)
    {
        timers_[i]->expected = now_ + ahead;
        wheel_.arm(*timers_[i], now_ + ahead);
    }

    void arm_again(timer& t, duration ahead)
    {
        t.expected = now_ + ahead;
        wheel_.arm(t, now_ + ahead);
    }

    void repeat(std::size_t i, duration every) { timers_[i]->again = every; }

    void disarm(std::size_t i)
    {
        timers_[i]->expected.reset();
        wheel_.disarm(*timers_[i]);
    }

    void remake(std::size_t i) { timers_[i] = std::make_unique<timer>(*this); }

    void advance(duration by)
    {
        now_ += by;
        wheel_.advance(now_);
        for (const auto& t : timers_) {
            require(t->armed() == t->expected.has_value());
            require(!t->armed() || t->deadline() == *t->expected);
            require(!t->armed() || t->again > duration{0} || *t->expected > now_ - tick);
        }
    }

private:
    base::timer_wheel wheel_;
    instant now_{};
    std::array<std::unique_ptr<timer>, 16> timers_;

    void remake_all()
    {
        for (std::size_t i = 0; i < timers_.size(); ++i) {
            remake(i);
        }
    }
};

void timer::expired(instant now)
{
    require(expected && *expected <= now && !armed());
    expected.reset();
    if (again > duration{0}) {
        race_.arm_again(*this, again);
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    if (size == 0) {
        return 0;
    }
    race run{1 + data[0] % 40U};
    for (std::size_t at = 1; at + 3 <= size; at += 3) {
        const std::size_t which = data[at + 1] % 16;
        const duration when{data[at + 2] * (data[at + 1] / 16 + 1)};
        switch (data[at] % 6) {
            case 0:
                run.disarm(which);
                break;
            case 1:
                run.remake(which);
                break;
            case 2:
                run.repeat(which, when);
                break;
            case 3:
                run.advance(when);
                break;
            default:
                run.arm(which, when);
        }
    }
    run.advance(std::chrono::hours{1});
    return 0;
}
