#include "gateway/store/told_reply.hpp"

#include "gateway/limit/limit.hpp"

namespace gateway::store {

namespace {

// allowed, remaining, retry_us, full_us
constexpr std::size_t numbers_per_charge = 4;

}  // namespace

call_results::kind read_decision(std::span<const std::int64_t> four, answer& into)
{
    constexpr std::int64_t most =
        (limit::limit::max_refill + limit::limit::max_wait) / std::chrono::microseconds{1};
    if (four[0] < 0 || four[0] > 2 || four[1] < 0 || four[2] < 0 || four[3] < 0) {
        return call_results::kind::garbage;
    }
    if (four[2] > most || four[3] > most) {
        return call_results::kind::corrupt;
    }
    into.add({
        .allowed = four[0] == 1,
        .banned = four[0] == 2,
        .remaining = four[1],
        .retry_after = std::chrono::microseconds{four[2]},
        .reset_after = std::chrono::microseconds{four[3]},
    });
    return call_results::kind::answer;
}

call_results::kind read_question(
    std::span<const std::int64_t> told, std::size_t& at, std::size_t charges, answer& into
)
{
    using kind = call_results::kind;
    if (at >= told.size()) {
        return kind::garbage;
    }
    const std::int64_t verdict = told[at++];
    if (verdict == -1) {
        return kind::corrupt;
    }
    const auto rest = told.subspan(at);
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

}  // namespace gateway::store
