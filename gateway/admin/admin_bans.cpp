#include "gateway/admin/admin_bans.hpp"

#include "gateway/admin/admin_query.hpp"
#include "gateway/base/hash.hpp"
#include "gateway/base/text.hpp"
#include "gateway/identity/bucket_name.hpp"
#include "gateway/intake/readable_key.hpp"
#include "gateway/limits/known_bans.hpp"
#include "gateway/worker/worker.hpp"

#include <boost/json.hpp>

namespace gateway::admin {

namespace {

using beast::http::status;

// Most bans that a call may list, as each one is looked up in its store.
constexpr std::uint64_t most_listed = 256;

struct bans_query {
    // Empty: the bans of all limits.
    std::string limit{};
    std::size_t most = 20;
    // The complaint about the query. Empty: there is none.
    std::string complaint{};
};

// Returns what is wrong with the parameter, or an empty text.
std::string_view read_parameter(std::string_view name, std::string_view value, bans_query& q)
{
    if (name == "limit") {
        q.limit = value;
        return {};
    }
    if (name == "n") {
        q.most = base::parse_decimal(value, most_listed).value_or(0);
        return q.most > 0 ? "" : "n: expected a number from 1 to 256";
    }
    return "unknown parameter; known here: limit, n";
}

bans_query read_bans_query(std::string_view text)
{
    bans_query q;
    q.complaint = read_parameters(text, [&q](std::string_view name, std::string_view value) {
        return read_parameter(name, value, q);
    });
    return q;
}

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

// Returns the index of the bucket's limit, or nothing if a reload has removed the limit.
std::optional<std::size_t> limit_of(const policy::policy& p, const limits::known_bans::ban& b)
{
    const std::string_view name = identity::limit_of(b.name);
    const auto rule = std::find_if(p.limits.begin(), p.limits.end(), [name](const auto& r) {
        return r.name == name;
    });
    if (rule == p.limits.end()) {
        return std::nullopt;
    }
    return static_cast<std::size_t>(rule - p.limits.begin());
}

// Describes a ban. If the store does not answer, uses what this gateway knows.
boost::json::value as_json(
    const policy::policy& p,
    const policy::limit_rule& rule,
    const limits::known_bans::ban& b,
    const limits::bucket_result& result
)
{
    boost::json::object one{
        {"limit", rule.name},
        {"bucket", base::sha256_hex128(b.name)},
        {"key", intake::readable_key(p, rule, b.name)}};
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
    const bans_query q = read_bans_query(query);
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
        const auto limit = limit_of(*policy, b);
        if (!limit || (!q.limit.empty() && q.limit != policy->limits[*limit].name)) {
            continue;
        }
        if (listed.size() == q.most) {
            more = true;
            break;
        }
        limits::bucket_operation look{.policy = policy, .limit = *limit, .bucket_name = b.name};
        look.numbers = &policy->limits[*limit].limit;
        const limits::bucket_result result = co_await ask_bucket(from, wait, std::move(look));
        if (!result.failed.empty() || result.banned_for > base::duration{0}) {
            listed.push_back(as_json(*policy, policy->limits[*limit], b, result));
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
