#include "gateway/admin/admin_calls.hpp"
#include "gateway/admin/admin_limits.hpp"
#include "gateway/admin/admin_query.hpp"
#include "gateway/identity/bucket_name.hpp"
#include "gateway/limits/reports/heavy_hitters.hpp"
#include "gateway/worker/worker.hpp"

#include <boost/json.hpp>

namespace gateway::admin {

namespace {

using beast::http::status;

struct counted {
    std::uint64_t total = 0;
    std::vector<limits::heavy_hitters::hitter> hitters{};
};

boost::json::value as_json(const policy::policy& p, const list_query& q, const counted& all)
{
    boost::json::array top;
    for (const limits::heavy_hitters::hitter& h : all.hitters) {
        const std::string_view limit = identity::limit_of(h.name);
        if (top.size() < q.most && (q.limit.empty() || q.limit == limit)) {
            boost::json::object one{{"limit", limit}};
            describe_bucket(p, {h.name, h.is_digest, true}, one);
            one["count"] = h.count;
            one["error"] = h.error;
            top.push_back(std::move(one));
        }
    }
    return {
        {"by", q.by_rejections ? "rejections" : "requests"},
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
    const list_query q = read_list_query(query, true);
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
        w->ask([answer, rejections = q.by_rejections](worker::worker_access& access) {
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
