#include "gateway/admin/perform_operation.hpp"

#include "gateway/limits/checks/bucket_parts.hpp"
#include "gateway/worker/worker.hpp"

#include <algorithm>

namespace gateway::admin {

namespace {

using operation_kind = limits::bucket_operation::kind;
using decisions = std::vector<limit::decision>;

net::task<limits::bucket_result> perform_one(
    const admin_sources& from, const admin_waiting& wait, limits::bucket_operation operation
)
{
    const awaited<limits::bucket_result> answer(wait.loop, wait.until);
    from.workers().front()->ask([operation = std::move(operation),
                                 answer](worker::worker_access& access) {
        access.buckets.ask(access.view, operation, [answer](const limits::bucket_result& a) {
            answer.resolve(a);
        });
    });
    const auto result = co_await answer.result();
    co_return result.value_or(limits::bucket_result{.failed = "no worker has answered in time"});
}

limits::bucket_operation of_part(
    const limits::bucket_operation& whole, operation_kind what, std::size_t number
)
{
    limits::bucket_operation operation = whole;
    const auto parts = whole.numbers->parts();
    identity::bucket_name name{whole.bucket_name};
    limits::name_part(name, number, parts.size());
    operation.what = what;
    operation.bucket_name = name.bytes();
    operation.numbers = &parts[number];
    return operation;
}

// Returns the fullest of the parts that can hold the tokens. If none can, returns the first part,
// which is the largest.
std::size_t fullest(const limits::bucket_operation& operation, const decisions& seen)
{
    const auto parts = operation.numbers->parts();
    std::size_t best = 0;
    for (std::size_t i = 1; i < seen.size(); ++i) {
        if (parts[i].burst() >= operation.tokens && seen[i].remaining > seen[best].remaining) {
            best = i;
        }
    }
    return best;
}

// Divides the tokens among the parts by what each lacks. All tokens are given, unless all parts are
// full.
std::vector<std::int64_t> divided(const limits::bucket_operation& operation, const decisions& seen)
{
    const auto lack = [&](std::size_t i) {
        return operation.numbers->parts()[i].burst() - seen[i].remaining;
    };
    __int128 lacking = 0;
    for (std::size_t i = 0; i < seen.size(); ++i) {
        lacking += lack(i);
    }
    std::vector<std::int64_t> given(seen.size());
    __int128 before = 0;
    for (std::size_t i = 0; i < seen.size() && lacking > 0; ++i) {
        const __int128 after = before + lack(i);
        given[i] = static_cast<std::int64_t>(
            operation.tokens * after / lacking - operation.tokens * before / lacking
        );
        before = after;
    }
    return given;
}

// Returns the whole bucket's decision about `tokens` from the decisions of its parts.
limit::decision of_whole(const limit::limit& numbers, const decisions& seen, std::int64_t tokens)
{
    limit::decision whole{.retry_after = limit::limit::max_refill};
    for (std::size_t i = 0; i < seen.size(); ++i) {
        const limit::decision& part = seen[i];
        whole.remaining += part.remaining;
        whole.reset_after = std::max(whole.reset_after, part.reset_after);
        if (numbers.parts()[i].burst() >= tokens) {
            whole.allowed = whole.allowed || part.allowed;
            const auto wait = part.allowed ? base::duration{0} : part.retry_after;
            whole.retry_after = std::min(whole.retry_after, wait);
        }
    }
    return whole;
}

// Takes the tokens from the fullest part.
net::task<limits::bucket_result> take(
    const admin_sources& from,
    const admin_waiting& wait,
    limits::bucket_operation operation,
    decisions seen
)
{
    const std::size_t i = fullest(operation, seen);
    const limits::bucket_result a =
        co_await perform_one(from, wait, of_part(operation, operation_kind::take, i));
    seen[i] = a.decision;
    limit::decision whole = of_whole(*operation.numbers, seen, operation.tokens);
    whole.allowed = a.decision.allowed;
    whole.retry_after = a.decision.allowed ? a.decision.retry_after : whole.retry_after;
    co_return limits::bucket_result{.failed = a.failed, .decision = whole};
}

net::task<limits::bucket_result> grant(
    const admin_sources& from,
    const admin_waiting& wait,
    limits::bucket_operation operation,
    decisions seen
)
{
    const auto given = divided(operation, seen);
    for (std::size_t i = 0; i < seen.size(); ++i) {
        if (given[i] == 0) {
            continue;
        }
        limits::bucket_operation one = of_part(operation, operation_kind::grant, i);
        one.tokens = given[i];
        const limits::bucket_result a = co_await perform_one(from, wait, one);
        if (!a.failed.empty()) {
            co_return a;
        }
        seen[i] = a.decision;
    }
    co_return limits::bucket_result{.decision = of_whole(*operation.numbers, seen, 1)};
}

net::task<limits::bucket_result> perform_on_parts(
    const admin_sources& from, const admin_waiting& wait, limits::bucket_operation operation
)
{
    // A reset, a ban and an unban apply to every part.
    const bool is_of_each = operation.what == operation_kind::reset ||
                            operation.what == operation_kind::ban ||
                            operation.what == operation_kind::unban;
    const std::int64_t tokens = operation.tokens_looked_for();
    decisions seen;
    limits::bucket_result whole;
    for (std::size_t i = 0; i < operation.numbers->parts().size(); ++i) {
        limits::bucket_operation one =
            of_part(operation, is_of_each ? operation.what : operation_kind::look, i);
        one.tokens = tokens;
        const limits::bucket_result a = co_await perform_one(from, wait, one);
        if (!a.failed.empty()) {
            co_return a;
        }
        seen.push_back(a.decision);
        // The whole bucket is banned only while all its parts are.
        whole.banned_for = i == 0 ? a.banned_for : std::min(whole.banned_for, a.banned_for);
        whole.by_operator = a.by_operator;
    }
    limits::bucket_result done{.decision = of_whole(*operation.numbers, seen, tokens)};
    if (operation.what == operation_kind::take) {
        done = co_await take(from, wait, std::move(operation), std::move(seen));
    } else if (operation.what == operation_kind::grant) {
        done = co_await grant(from, wait, std::move(operation), std::move(seen));
    }
    whole.failed = done.failed;
    whole.decision = done.decision;
    co_return whole;
}

}  // namespace

net::task<limits::bucket_result> perform_operation(
    const admin_sources& from, const admin_waiting& wait, limits::bucket_operation operation
)
{
    return operation.numbers->parts().empty() ? perform_one(from, wait, std::move(operation))
                                              : perform_on_parts(from, wait, std::move(operation));
}

}  // namespace gateway::admin
