#include "gateway/admin/admin_body.hpp"
#include "gateway/admin/admin_calls.hpp"
#include "gateway/admin/known_buckets.hpp"
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
using operation_kind = limits::bucket_operation::kind;

boost::json::value as_json(
    const limits::bucket_operation& operation, const limits::bucket_result& a
)
{
    const limit::decision& decision = a.decision;
    const limit::limit& limit = *operation.numbers;
    const bool never = operation.tokens_looked_for() > limit.most_at_once();
    boost::json::value retry;
    if (!never) {
        retry = in_seconds(decision.allowed ? base::duration{0} : decision.retry_after);
    }
    boost::json::object body;
    if (operation.what == operation_kind::take) {
        body["allowed"] = decision.allowed;
        body["wait"] = in_seconds(decision.allowed ? decision.retry_after : base::duration{0});
    }
    body["limit"] = limit.burst();
    body["remaining"] = decision.remaining;
    body["reset"] = in_seconds(decision.reset_after);
    body[operation.what == operation_kind::take ? "retry_after" : "retry"] = retry;
    body["banned_until"] = end_of_ban(a.banned_for);
    body["bucket"] = base::sha256_hex128(operation.bucket_name);
    return body;
}

std::string described(const limits::bucket_operation& operation, const limit::decision& decision)
{
    const std::string tokens = std::to_string(operation.tokens);
    switch (operation.what) {
        case operation_kind::take:
            return (decision.allowed ? "took " : "was refused ") + tokens + " of";
        case operation_kind::grant:
            return "granted " + tokens + " to";
        case operation_kind::ban:
            return "banned for " + base::format_duration(operation.ban) + ':';
        case operation_kind::unban:
            return "unbanned";
        default:
            return "reset";
    }
}

void log_change(
    const limits::bucket_operation& operation,
    const limit::decision& decision,
    const std::string& peer
)
{
    telemetry::log(
        telemetry::log_level::info,
        "admin API: " + peer + ' ' + described(operation, decision) + " limit " +
            operation.policy->limits[operation.limit].name + ", bucket " +
            base::sha256_hex128(operation.bucket_name)
    );
}

// Logs a call that has failed, but may have changed the bucket, or a part of it.
void log_unanswered(const limits::bucket_operation& operation, const std::string& peer)
{
    telemetry::log(
        telemetry::log_level::warning,
        "admin API: " + peer + " wanted to change limit " +
            operation.policy->limits[operation.limit].name + ", bucket " +
            base::sha256_hex128(operation.bucket_name) +
            "; the store has not answered, it may have been done"
    );
}

void read_tokens(admin_body& members, limits::bucket_operation& operation)
{
    constexpr std::int64_t most = limit::windows::most_tokens;
    if (operation.what == operation_kind::take) {
        operation.tokens = members.whole_or("cost", 1, 0, most);
        operation.max_wait = members.time_or("max_wait", base::duration{0}, limit::limit::max_wait);
    } else if (operation.what == operation_kind::grant) {
        operation.tokens = members.whole("tokens", 1, most);
    } else if (operation.what == operation_kind::ban) {
        operation.ban = members.time("for", std::chrono::seconds{1}, limit::penalty::longest);
    }
}

// Returns a complaint if a take or a grant is for a limit of requests in flight. It has no
// tokens, and nothing would release a permit that is taken.
std::string refuse_permits(const limits::bucket_operation& operation)
{
    const bool takes =
        operation.what == operation_kind::take || operation.what == operation_kind::grant;
    const bool permits = operation.numbers->counts_in_flight();
    return takes && permits ? "limit: it counts requests in flight, and has no tokens"
                            : std::string{};
}

// `named_bucket` is how a call names its bucket: by the values of its key, or by its hash.
struct named_bucket {
    std::string limit;
    std::optional<std::string> hash{};
    std::vector<std::string> key{};
    std::optional<std::string> plan{};
};

named_bucket read_name(admin_body& members)
{
    named_bucket named{.limit = members.text("limit")};
    named.hash = members.text_if_any("bucket");
    if (!named.hash) {
        named.key = members.texts("key");
    } else if (!is_bucket_hash(*named.hash)) {
        members.complain("bucket", "expected 32 hexadecimal digits in lower case");
    }
    named.plan = members.text_if_any("plan");
    return named;
}

constexpr std::string_view unknown_bucket =
    "no bucket of this limit with that hash is known here: it is known while it is among those "
    "that ask most or are rejected most, while it stands in a recent rejection, and while it is "
    "banned; "
    "name it by its key";

// Names the bucket of a key, and chooses its numbers. Returns what is wrong, or an empty text.
std::string name_by_key(const named_bucket& named, limits::bucket_operation& operation)
{
    identity::bucket_name bucket;
    std::string complaint = intake::name_bucket(
        *operation.policy, operation.policy->limits[operation.limit], named.key, bucket
    );
    operation.bucket_name = bucket.bytes();
    return complaint.empty() ? limits::choose_numbers(named.plan, named.key, operation) : complaint;
}

// Notes the ban at a worker, so that GET /v1/bans lists it.
void note_ban(const admin_sources& from, const limits::bucket_operation& operation)
{
    from.workers().front()->ask([name = operation.bucket_name,
                                 length = operation.ban](worker::worker_access& access) {
        access.top.banned.note(identity::hashed(name), access.now + length, access.now);
    });
}

// Has internal linkage: a coroutine with external linkage may not hold types of this file.
net::task<probes::control_response> answer_operation(
    const admin_sources& from,
    const admin_waiting& wait,
    limits::bucket_operation::kind what,
    const std::string& body,
    const std::string& peer
)
{
    admin_body members(body);
    const named_bucket named = read_name(members);
    limits::bucket_operation operation{.what = what, .policy = from.policy(), .bucket_name = {}};
    read_tokens(members, operation);
    if (!members.complaint().empty()) {
        co_return problem(status::bad_request, members.complaint());
    }
    probes::control_response unknown;
    const auto limit = find_limit(*operation.policy, named.limit, unknown);
    if (!limit) {
        co_return unknown;
    }
    operation.limit = *limit;
    std::string complaint;
    if (named.hash) {
        const auto found = co_await find_bucket(from, wait, named.limit, *named.hash);
        if (!found) {
            co_return problem(status::not_found, unknown_bucket);
        }
        operation.bucket_name = *found;
        complaint = limits::choose_numbers(named.plan, operation);
    } else {
        complaint = name_by_key(named, operation);
    }
    if (complaint.empty()) {
        complaint = refuse_permits(operation);
    }
    if (!complaint.empty()) {
        co_return problem(status::bad_request, complaint);
    }
    const limits::bucket_result answer = co_await perform_operation(from, wait, operation);
    const bool changes = what != operation_kind::look;
    if (!answer.failed.empty()) {
        if (changes) {
            log_unanswered(operation, peer);
        }
        co_return problem(
            status::service_unavailable,
            "the store has not answered: " + std::string{answer.failed} +
                (changes ? "; what was asked may have been done, or a part of it" : "")
        );
    }
    if (changes) {
        log_change(operation, answer.decision, peer);
    }
    if (operation.what == operation_kind::ban) {
        note_ban(from, operation);
    }
    co_return reply(as_json(operation, answer));
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
    return answer_operation(from, wait, what, body, peer);
}

}  // namespace gateway::admin
