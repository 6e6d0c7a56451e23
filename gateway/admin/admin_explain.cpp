#include "gateway/admin/admin_body.hpp"
#include "gateway/admin/admin_calls.hpp"
#include "gateway/admin/explanation_json.hpp"

#include <span>

namespace gateway::admin {

namespace {

intake::hypothetical_request read_request(admin_body& members)
{
    intake::hypothetical_request request;
    request.method = members.text_if_any("method").value_or(request.method);
    request.url = members.text("url");
    request.headers = members.fields_if_any("headers");
    request.content = members.text_if_any("body").value_or(request.content);
    request.peer = members.text_if_any("peer").value_or(request.peer);
    return request;
}

// Looks at a bucket as limit checks do: if its store fails, the fallback may decide.
net::task<limits::looked_at> look_at(
    const admin_sources& from, const admin_waiting& wait, limits::bucket_operation operation
)
{
    const policy::limit_rule& rule = operation.policy->limits[operation.limit];
    const limits::bucket_result a = co_await perform_operation(from, wait, operation);
    if (a.failed.empty()) {
        co_return limits::looked_at{.decision = a.decision, .banned_for = a.banned_for};
    }
    limits::looked_at seen{.failed = std::string{a.failed}};
    if (rule.on_failure(policy::failure_policy::local)) {
        operation.at_fallback = true;
        const limits::bucket_result instead =
            co_await perform_operation(from, wait, std::move(operation));
        if (instead.failed.empty()) {
            seen.decision = instead.decision;
            seen.banned_for = instead.banned_for;
        }
    }
    co_return seen;
}

}  // namespace

net::task<probes::control_response> answer_explain(
    const admin_sources& from, const admin_waiting& wait, const std::string& body
)
{
    admin_body members(body);
    const intake::hypothetical_request request = read_request(members);
    std::string complaint = members.complaint();
    limits::explanation e;
    if (complaint.empty()) {
        e = limits::explain(from.policy(), from.http(), request, complaint);
    }
    if (!complaint.empty()) {
        co_return problem(beast::http::status::bad_request, complaint);
    }
    std::vector<limits::looked_at> looks;
    for (const intake::named_charge& c : std::span{e.limits}.first(e.asked)) {
        if (c.is == intake::named_charge::state::charged) {
            limits::bucket_operation operation{
                .what = limits::bucket_operation::kind::look,
                .policy = e.policy,
                .limit = c.index,
                .numbers = c.limit,
                .bucket_name = std::string{c.name.bytes()},
                .tokens = c.cost,
                .max_wait = c.rule->max_wait,
            };
            looks.push_back(co_await look_at(from, wait, std::move(operation)));
        }
    }
    co_return reply(as_json(e, looks));
}

}  // namespace gateway::admin
