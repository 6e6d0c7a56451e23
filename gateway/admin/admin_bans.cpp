#include "gateway/admin/admin_calls.hpp"
#include "gateway/admin/admin_limits.hpp"
#include "gateway/admin/admin_query.hpp"
#include "gateway/identity/bucket_name.hpp"
#include "gateway/limits/reports/known_bans.hpp"
#include "gateway/worker/worker.hpp"

#include <boost/json.hpp>

namespace gateway::admin {

namespace {

using beast::http::status;

struct all_known {
    std::vector<limits::known_bans::ban> bans{};
    // True if a worker may have left out bans.
    bool leaves_out = false;
};

// Returns the bans that any worker knows, or nothing if a worker has not answered in time.
net::task<std::optional<all_known>> ask_workers(
    const admin_sources& from, const admin_waiting& wait
)
{
    std::vector<awaited<all_known>> answers;
    for (worker::worker* const w : from.workers()) {
        const auto& answer = answers.emplace_back(wait.loop, wait.until);
        w->ask([answer](worker::worker_access& access) {
            answer.resolve(
                {access.top.banned.all(access.now), access.top.banned.leaves_out(access.now)}
            );
        });
    }
    all_known all;
    for (const auto& answer : answers) {
        const auto result = co_await answer.result();
        if (!result) {
            co_return std::nullopt;
        }
        all.bans.insert(all.bans.end(), result->bans.begin(), result->bans.end());
        all.leaves_out = all.leaves_out || result->leaves_out;
    }
    all.bans = merged(all.bans);
    co_return all;
}

// Describes a ban. If the store does not answer, uses what this gateway knows.
boost::json::value as_json(
    const policy::policy& p, const limits::known_bans::ban& b, const limits::bucket_result& result
)
{
    boost::json::object one{{"limit", identity::limit_of(b.name)}};
    describe_bucket(p, {b.name, false, true}, one);
    if (result.failed.empty()) {
        one["banned_until"] = end_of_ban(result.banned_for);
        one["by"] = result.by_operator ? "admin" : "penalty";
    } else {
        one["banned_until"] = end_of_ban(b.until - base::now());
        one["failed"] = result.failed;
    }
    return one;
}

// Has internal linkage: a coroutine with external linkage may not hold types of this file.
net::task<probes::control_response> list_bans(
    const admin_sources& from, const admin_waiting& wait, std::string_view query
)
{
    const list_query q = read_list_query(query, false);
    const auto policy = from.policy();
    probes::control_response unknown;
    if (!q.complaint.empty()) {
        co_return problem(status::bad_request, q.complaint);
    }
    if (!q.limit.empty() && !find_limit(*policy, q.limit, unknown)) {
        co_return unknown;
    }
    const auto known = co_await ask_workers(from, wait);
    if (!known) {
        co_return problem(status::service_unavailable, "a worker has not answered in time");
    }
    boost::json::array listed;
    bool more = known->leaves_out;
    for (const limits::known_bans::ban& b : known->bans) {
        const policy::limit_rule* const rule = rule_of(*policy, b.name);
        if (rule == nullptr || (!q.limit.empty() && q.limit != rule->name)) {
            continue;
        }
        if (listed.size() == q.most) {
            more = true;
            break;
        }
        limits::bucket_operation look{
            .policy = policy,
            .limit = static_cast<std::size_t>(rule - policy->limits.data()),
            .numbers = &rule->limit,
            .bucket_name = b.name};
        const limits::bucket_result result =
            co_await perform_operation(from, wait, std::move(look));
        if (!result.failed.empty() || result.banned_for > base::duration{0}) {
            listed.push_back(as_json(*policy, b, result));
        }
    }
    co_return reply(boost::json::value{{"bans", std::move(listed)}, {"more", more}});
}

}  // namespace

net::task<probes::control_response> answer_bans(
    const admin_sources& from, const admin_waiting& wait, std::string_view query
)
{
    return list_bans(from, wait, query);
}

}  // namespace gateway::admin
