#include "gateway/admin/admin_buckets.hpp"

#include "gateway/admin/admin_body.hpp"
#include "gateway/base/hash.hpp"
#include "gateway/base/quantity.hpp"
#include "gateway/base/suggest.hpp"
#include "gateway/intake/readable_key.hpp"
#include "gateway/limit/windows.hpp"
#include "gateway/limits/bucket_numbers.hpp"
#include "gateway/telemetry/log.hpp"
#include "gateway/worker/worker.hpp"

#include <boost/json.hpp>

#include <algorithm>

namespace gateway::admin {

namespace {

using beast::http::status;
using question_kind = limits::bucket_operation::kind;

// Returns the tokens of a look or a take. Other operations end with a look for one token.
std::int64_t tokens_asked_for(const limits::bucket_operation& q)
{
    const bool whole = q.what == question_kind::look || q.what == question_kind::take;
    return whole ? q.tokens : 1;
}

boost::json::value as_json(const limits::bucket_operation& q, const limits::bucket_result& a)
{
    const limit::decision& decision = a.decision;
    const limit::limit& limit = *q.numbers;
    const bool never = tokens_asked_for(q) > limit.most_at_once();
    boost::json::value retry;
    if (!never) {
        retry = in_seconds(decision.allowed ? base::duration{0} : decision.retry_after);
    }
    boost::json::object body;
    if (q.what == question_kind::take) {
        body["allowed"] = decision.allowed;
        body["wait"] = in_seconds(decision.allowed ? decision.retry_after : base::duration{0});
    }
    body["limit"] = limit.burst();
    body["remaining"] = decision.remaining;
    body["reset"] = in_seconds(decision.reset_after);
    body[q.what == question_kind::take ? "retry_after" : "retry"] = retry;
    body["banned_until"] = end_of_ban(a.banned_for);
    body["bucket"] = base::sha256_hex128(q.bucket_name);
    return body;
}

std::string described(const limits::bucket_operation& q, const limit::decision& decision)
{
    const std::string tokens = std::to_string(q.tokens);
    switch (q.what) {
        case question_kind::take:
            return (decision.allowed ? "took " : "was refused ") + tokens + " of";
        case question_kind::grant:
            return "granted " + tokens + " to";
        case question_kind::ban:
            return "banned for " + base::format_duration(q.ban) + ':';
        case question_kind::unban:
            return "unbanned";
        default:
            return "reset";
    }
}

void log_change(
    const limits::bucket_operation& q, const limit::decision& decision, const std::string& peer
)
{
    telemetry::log(
        telemetry::log_level::info,
        "admin API: " + peer + ' ' + described(q, decision) + " limit " +
            q.policy->limits[q.limit].name + ", bucket " + base::sha256_hex128(q.bucket_name)
    );
}

// Logs a call that has failed, but may have changed the bucket, or a part of it.
void log_unanswered(const limits::bucket_operation& q, const std::string& peer)
{
    telemetry::log(
        telemetry::log_level::warning,
        "admin API: " + peer + " wanted to change limit " + q.policy->limits[q.limit].name +
            ", bucket " + base::sha256_hex128(q.bucket_name) +
            "; the store has not answered, it may have been done"
    );
}

void read_tokens(admin_body& members, limits::bucket_operation& q)
{
    constexpr std::int64_t most = limit::windows::most_tokens;
    if (q.what == question_kind::take) {
        q.tokens = members.whole_or("cost", 1, 0, most);
        q.max_wait = members.time_or("max_wait", base::duration{0}, limit::limit::max_wait);
    } else if (q.what == question_kind::grant) {
        q.tokens = members.whole("tokens", 1, most);
    } else if (q.what == question_kind::ban) {
        q.ban = members.time("for", std::chrono::seconds{1}, limit::penalty::longest);
    }
}

// Returns a complaint if a take or a grant is for a limit of requests in flight. It has no
// tokens, and nothing would release a permit that is taken.
std::string refuse_permits(const limits::bucket_operation& q)
{
    const bool takes = q.what == question_kind::take || q.what == question_kind::grant;
    const bool permits = q.numbers->counts_in_flight();
    return takes && permits ? "limit: it counts requests in flight, and has no tokens"
                            : std::string{};
}

// Notes the ban at a worker, so that GET /v1/bans lists it.
void note_ban(const admin_sources& from, const limits::bucket_operation& q)
{
    from.workers().front()->ask([name = q.bucket_name,
                                 length = q.ban](worker::worker_access& access) {
        access.top.banned.note(identity::hashed(name), access.now + length, access.now);
    });
}

}  // namespace

boost::json::value end_of_ban(base::duration left)
{
    return left > base::duration{0} ? boost::json::value(in_seconds(base::unix_time() + left))
                                    : boost::json::value();
}

double in_seconds(base::duration d)
{
    const auto micros = std::chrono::ceil<std::chrono::microseconds>(d).count();
    return static_cast<double>(micros) / 1e6;
}

std::optional<std::size_t> find_limit(
    const policy::policy& p, std::string_view name, probes::control_response& unknown
)
{
    std::vector<std::string_view> names;
    for (const policy::limit_rule& rule : p.limits) {
        if (rule.name == name) {
            return names.size();
        }
        names.push_back(rule.name);
    }
    const std::string short_name{name.substr(0, 64)};
    unknown = problem(
        status::not_found, "unknown limit \"" + short_name + '"' + base::suggestion(name, names)
    );
    return std::nullopt;
}

net::task<probes::control_response> answer_about_bucket(
    const admin_sources& from,
    const admin_waiting& wait,
    limits::bucket_operation::kind what,
    const std::string& body,
    const std::string& peer
)
{
    admin_body members(body);
    const std::string name = members.text("limit");
    const std::vector<std::string> key = members.texts("key");
    limits::bucket_operation q{.what = what, .policy = from.policy(), .bucket_name = {}};
    const auto plan = members.text_if_any("plan");
    read_tokens(members, q);
    if (!members.complaint().empty()) {
        co_return problem(status::bad_request, members.complaint());
    }
    probes::control_response unknown;
    const auto limit = find_limit(*q.policy, name, unknown);
    if (!limit) {
        co_return unknown;
    }
    q.limit = *limit;
    identity::bucket_name bucket;
    std::string complaint = intake::name_bucket(*q.policy, q.policy->limits[q.limit], key, bucket);
    if (complaint.empty()) {
        complaint = limits::choose_numbers(plan, key, q);
    }
    if (complaint.empty()) {
        complaint = refuse_permits(q);
    }
    if (!complaint.empty()) {
        co_return problem(status::bad_request, complaint);
    }
    q.bucket_name = bucket.bytes();
    const limits::bucket_result answer = co_await ask_bucket(from, wait, q);
    const bool changes = what != question_kind::look;
    if (!answer.failed.empty()) {
        if (changes) {
            log_unanswered(q, peer);
        }
        co_return problem(
            status::service_unavailable,
            "the store has not answered: " + std::string{answer.failed} +
                (changes ? "; what was asked may have been done, or a part of it" : "")
        );
    }
    if (changes) {
        log_change(q, answer.decision, peer);
    }
    if (q.what == question_kind::ban) {
        note_ban(from, q);
    }
    co_return reply(as_json(q, answer));
}

}  // namespace gateway::admin
