#include "gateway/admin/admin_top.hpp"

#include "gateway/admin/admin_query.hpp"
#include "gateway/base/hash.hpp"
#include "gateway/base/text.hpp"
#include "gateway/identity/bucket_name.hpp"
#include "gateway/intake/readable_key.hpp"
#include "gateway/limits/heavy_hitters.hpp"
#include "gateway/worker/worker.hpp"

#include <boost/json.hpp>

namespace gateway::admin {

namespace {

using beast::http::status;

constexpr std::uint64_t default_number = 20;

struct top_query {
    bool rejections = false;
    // Empty: the buckets of all limits.
    std::string limit{};
    std::size_t most = default_number;
    // The complaint about the query. Empty: there is none.
    std::string complaint{};
};

// Returns what is wrong with the parameter, or an empty text.
std::string_view read_parameter(std::string_view name, std::string_view value, top_query& q)
{
    if (name == "by") {
        q.rejections = value == "rejections";
        return q.rejections || value == "requests" ? "" : "by: expected requests or rejections";
    }
    if (name == "limit") {
        q.limit = value;
        return {};
    }
    if (name == "n") {
        q.most = base::parse_decimal(value, limits::heavy_hitters::most).value_or(0);
        return q.most > 0 ? "" : "n: expected a number from 1 to 256";
    }
    return "unknown parameter; known here: by, limit, n";
}

top_query read_top_query(std::string_view text)
{
    top_query q;
    q.complaint = read_parameters(text, [&q](std::string_view name, std::string_view value) {
        return read_parameter(name, value, q);
    });
    return q;
}

struct counted {
    std::uint64_t total = 0;
    std::vector<limits::heavy_hitters::hitter> hitters{};
};

// Describes a bucket. Its key is left out if only a digest of it is known, or if a reload has
// removed the limit.
boost::json::value as_json(const policy::policy& p, const limits::heavy_hitters::hitter& h)
{
    const std::string_view limit = identity::limit_of(h.name);
    const auto rule = std::find_if(p.limits.begin(), p.limits.end(), [limit](const auto& r) {
        return r.name == limit;
    });
    boost::json::object one{{"limit", limit}};
    if (h.is_digest) {
        one["bucket"] = std::get<std::string_view>(identity::parts_of(h.name).back());
    } else {
        one["bucket"] = base::sha256_hex128(h.name);
    }
    if (!h.is_digest && rule != p.limits.end()) {
        one["key"] = intake::readable_key(p, *rule, h.name);
    }
    one["count"] = h.count;
    one["error"] = h.error;
    return one;
}

boost::json::value as_json(const policy::policy& p, const top_query& q, const counted& all)
{
    boost::json::array top;
    for (const limits::heavy_hitters::hitter& h : all.hitters) {
        const std::string_view limit = identity::limit_of(h.name);
        if (top.size() < q.most && (q.limit.empty() || q.limit == limit)) {
            top.push_back(as_json(p, h));
        }
    }
    return {
        {"by", q.rejections ? "rejections" : "requests"},
        {"counted", all.total},
        {"largest_error", all.total / limits::heavy_hitters::most},
        {"top", std::move(top)},
    };
}

// Has internal linkage: a coroutine with external linkage may not hold types of this file.
net::task<probes::control_response> ask_all(
    const admin_sources& from, const admin_waiting& wait, std::string_view query
)
{
    const top_query q = read_top_query(query);
    const auto policy = from.policy();
    probes::control_response unknown;
    if (!q.complaint.empty()) {
        co_return problem(status::bad_request, q.complaint);
    }
    if (!q.limit.empty() && !find_limit(*policy, q.limit, unknown)) {
        co_return unknown;
    }
    std::vector<awaited<counted>> answers;
    for (worker::worker* const w : from.workers()) {
        const auto& answer = answers.emplace_back(wait.loop, wait.until);
        w->ask([answer, rejections = q.rejections](worker::worker_access& access) {
            const limits::heavy_hitters& top =
                rejections ? access.top.by_rejections : access.top.by_requests;
            answer.resolve({.total = top.total(), .hitters = top.all()});
        });
    }
    counted all;
    std::vector<std::vector<limits::heavy_hitters::hitter>> hitters;
    for (const auto& answer : answers) {
        auto result = co_await answer.result();
        if (!result) {
            co_return problem(status::service_unavailable, "a worker has not answered in time");
        }
        all.total += result->total;
        hitters.push_back(std::move(result->hitters));
    }
    all.hitters = merged(hitters);
    co_return reply(as_json(*policy, q, all));
}

}  // namespace

net::task<probes::control_response> answer_top(
    const admin_sources& from, const admin_waiting& wait, std::string_view query
)
{
    return ask_all(from, wait, query);
}

}  // namespace gateway::admin
