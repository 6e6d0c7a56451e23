#include "slice.hpp"

#include <algorithm>
#include <utility>

namespace bench {

namespace {

constexpr nanoseconds longest_wait{5'000'000};
constexpr std::uint64_t grace = 20'000'000'000;  // ns for a first answer, and for those under way

std::uint64_t count(nanoseconds duration)
{
    return static_cast<std::uint64_t>(duration.count());
}

}  // namespace

slice::slice(
    loop& in, std::vector<client*> clients, std::vector<pid_t> processes, load_options options
)
    : loop_{in}, idle_{std::move(clients)}, processes_{std::move(processes)}, options_{options}
{
    random_.seed(static_cast<std::minstd_rand::result_type>(begin_));
}

measurement slice::run()
{
    if (options_.beside != nullptr) {
        options_.beside->resume(begin_);
    }
    const std::uint64_t end = begin_ + count(options_.warm_up + options_.measured);
    if (options_.rate <= 0) {
        for (client* const each : std::exchange(idle_, {})) {
            ask(*each, now());
        }
    }
    for (;;) {
        const std::uint64_t time = now();
        advance(time);
        if (phase_ == phase::ending && under_way_ == 0) {
            return std::move(result_);
        }
        if (time > end + grace) {
            fail("a proxy does not answer");
        }
        if (options_.beside != nullptr && phase_ != phase::ending) {
            options_.beside->go_on(time);
        }
        const bool open = options_.rate > 0 && phase_ != phase::ending;
        loop_.turn(open ? ask_due(time) : longest_wait);
    }
}

void slice::advance(std::uint64_t time)
{
    const std::uint64_t measured_from = begin_ + count(options_.warm_up);
    if (phase_ == phase::warming && time >= measured_from) {
        phase_ = phase::measuring;
        result_.used = used_by(processes_);
        return;
    }
    const bool over = time >= measured_from + count(options_.measured);
    if (phase_ == phase::measuring && over && result_.requests() > 0) {
        phase_ = phase::ending;
        result_.used = used_by(processes_) - result_.used;
    }
}

void slice::ask(client& who, std::uint64_t since)
{
    ++under_way_;
    const auto key = static_cast<std::uint32_t>(random_() % options_.keys);
    who.request(since, key, *this);
}

nanoseconds slice::ask_due(std::uint64_t time)
{
    const double gap = 1e9 / options_.rate;
    while (!idle_.empty()) {
        const std::uint64_t due =
            begin_ + static_cast<std::uint64_t>(gap * static_cast<double>(scheduled_));
        if (due > time) {
            return std::min(longest_wait, nanoseconds{due - time});
        }
        client* const next = idle_.back();
        idle_.pop_back();
        ++scheduled_;
        ask(*next, due);  // late or not: what a user waits counts from when it was due
    }
    return longest_wait;
}

void slice::answered(client& who, int status)
{
    --under_way_;
    const std::uint64_t time = now();
    if (phase_ == phase::measuring) {
        ++(status / 100 == 2 ? result_.allowed : status == 429 ? result_.rejected : result_.failed);
        result_.latencies.push_back(static_cast<std::uint32_t>(time - who.since()));
    }
    if (options_.rate > 0 || phase_ == phase::ending) {
        idle_.push_back(&who);
    } else {
        ask(who, time);
    }
}

}  // namespace bench
