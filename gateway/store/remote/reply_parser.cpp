#include "gateway/store/remote/reply_parser.hpp"

#include "gateway/limit/algebra.hpp"
#include "gateway/limit/limit.hpp"
#include "gateway/store/remote/call_flags.hpp"

#include <algorithm>

namespace gateway::store {

namespace {

// The numbers of a charge are allowed, remaining, retry_us and full_us.
constexpr std::size_t numbers_per_charge = 4;

// Most that a bucket may owe, or a request may have to wait, under any limit, in microseconds.
constexpr std::int64_t most_owed =
    (limit::limit::max_refill + limit::limit::max_wait) / std::chrono::microseconds{1};

}  // namespace

void question_walk::go_on()
{
    const bool is_simple = asked().keys > 0;
    if (++answered_ == asked().times * (is_simple ? asked().keys : 1)) {
        shape_ = shape_.subspan(1);
        answered_ = 0;
    }
}

call_results::kind reply_parser::next(std::size_t charges, answer& into)
{
    if (walk_.ended()) {
        return kind::garbage;
    }
    const kind result = walk_.asked().keys == 0 ? read_question(reply_, at_, charges, into)
                        : charges == 1          ? next_simple(into)
                                                : kind::garbage;
    walk_.go_on();
    return result;
}

// Reads the reply to a simple question: one number for a bucket, or three if it is banned, however
// many times it was asked.
call_results::kind reply_parser::next_simple(answer& into)
{
    const auto rest = reply_.subspan(at_);
    const bool is_banned = !rest.empty() && rest[0] == call_flags::banned_bucket;
    const std::size_t numbers = is_banned ? 3 : 1;
    if (rest.size() < numbers) {
        return kind::garbage;
    }
    const simple_charges& asked = walk_.asked();
    const std::int64_t before = walk_.before();
    at_ += before + 1 == asked.times ? numbers : 0;
    if (rest[0] == call_flags::unreadable) {
        return kind::corrupt;
    }
    return is_banned ? read_banned(asked, rest[1], rest[2], into)
                     : read_simple(asked, before, rest[0], into);
}

call_results::kind read_decision(std::span<const std::int64_t> four, answer& into)
{
    if (four[0] < 0 || four[0] > call_flags::banned_charge || four[1] < 0 || four[2] < 0 ||
        four[3] < 0) {
        return call_results::kind::garbage;
    }
    if (four[2] > most_owed || four[3] > most_owed) {
        return call_results::kind::corrupt;
    }
    into.add({
        .allowed = four[0] == 1,
        .banned = four[0] == call_flags::banned_charge,
        .remaining = four[1],
        .retry_after = std::chrono::microseconds{four[2]},
        .reset_after = std::chrono::microseconds{four[3]},
    });
    return call_results::kind::answer;
}

call_results::kind read_question(
    std::span<const std::int64_t> reply, std::size_t& at, std::size_t charges, answer& into
)
{
    using kind = call_results::kind;
    if (at >= reply.size()) {
        return kind::garbage;
    }
    const std::int64_t verdict = reply[at++];
    if (verdict == call_flags::unreadable) {
        return kind::corrupt;
    }
    const auto rest = reply.subspan(at);
    if ((verdict != 0 && verdict != 1) || rest.size() < charges * numbers_per_charge) {
        return kind::garbage;
    }
    into.clear();
    into.admitted = verdict == 1;
    kind all = kind::answer;
    for (std::size_t i = 0; i < charges; ++i) {
        const kind one = read_decision(rest.subspan(i * numbers_per_charge), into);
        if (one == kind::garbage) {
            return kind::garbage;
        }
        all = one == kind::corrupt ? kind::corrupt : all;
    }
    at += charges * numbers_per_charge;
    return all;
}

std::int64_t passing(const simple_charges& asked, std::int64_t debt)
{
    const std::int64_t step = asked.cost * asked.interval;
    const std::int64_t room = asked.burst * asked.interval - debt;
    if (step > room) {
        return 0;
    }
    return step == 0 ? asked.times : std::min(asked.times, room / step);
}

namespace {

// Checks the numbers that a server found in a bucket. Corrupt: no limit allows them. Garbage:
// nobody can have found them there.
call_results::kind kind_of(std::int64_t debt, std::int64_t ban_left)
{
    if (debt > most_owed || ban_left > most_owed) {
        return call_results::kind::corrupt;
    }
    const bool is_possible = debt >= 0 && ban_left >= 0;
    return is_possible ? call_results::kind::answer : call_results::kind::garbage;
}

}  // namespace

call_results::kind read_banned(
    const simple_charges& asked, std::int64_t debt, std::int64_t ban_left, answer& into
)
{
    const auto kind = kind_of(debt, ban_left);
    if (kind != call_results::kind::answer) {
        return kind;
    }
    const limit::terms terms{.interval = asked.interval, .burst = asked.burst};
    const limit::bucket there{terms, debt};
    const limit::step request = limit::take(terms, there, 0, asked.cost);
    limit::decision decision = limit::decision_in<std::chrono::microseconds>(look(terms, there, 0));
    decision.allowed = false;
    decision.banned = true;
    decision.retry_after =
        std::chrono::microseconds{std::max(request.allowed ? 0 : request.retry_in, ban_left)};
    into.clear();
    into.admitted = !asked.enforced;
    into.add(decision);
    return kind;
}

call_results::kind read_simple(
    const simple_charges& asked, std::int64_t before, std::int64_t debt, answer& into
)
{
    const auto kind = kind_of(debt, 0);
    if (kind != call_results::kind::answer) {
        return kind;
    }
    const std::int64_t passed = std::min(before, passing(asked, debt));
    const limit::terms terms{.interval = asked.interval, .burst = asked.burst};
    const limit::bucket then{terms, debt + passed * asked.cost * asked.interval};
    const limit::step step = limit::take(terms, then, 0, asked.cost);
    into.clear();
    into.admitted = step.allowed || !asked.enforced;
    into.add(limit::decision_in<std::chrono::microseconds>(step));
    return kind;
}

}  // namespace gateway::store
