#include "gateway/probes/collector.hpp"

#include "gateway/base/text.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace gateway::probes {

namespace {

using delivery = collector::delivery;

control_upload request_for(
    const collector_options& options, const std::string& user_agent, std::string batch
)
{
    control_upload r(beast::http::verb::post, options.path, 11);
    r.set(beast::http::field::host, base::host_and_port(options.host, options.port));
    r.set(beast::http::field::user_agent, user_agent);
    r.set(beast::http::field::content_type, "application/json");
    r.set(beast::http::field::connection, "close");
    for (const auto& [name, value] : options.headers) {
        r.set(name, value);
    }
    r.body() = std::move(batch);
    r.prepare_payload();
    return r;
}

// Judges a response by its status, as OTLP has it.
delivery judged(const remote_server::answer& a)
{
    constexpr std::array<unsigned, 4> passing{429, 502, 503, 504};
    const unsigned status = a.response ? a.response->result_int() : 0;
    const bool is_taken = status >= 200 && status <= 299;
    if (!a.response || (is_taken && !a.complaint.empty())) {
        return {.complaint = a.complaint, .may_repeat = a.may_repeat};
    }
    const control_response& response = *a.response;
    if (is_taken) {
        return {.body = response.body()};
    }
    return {
        .complaint = "status " + std::to_string(status),
        .may_repeat = std::find(passing.begin(), passing.end(), status) != passing.end(),
        .retry_after = std::string{response[beast::http::field::retry_after]}};
}

}  // namespace

collector::collector(const net::executor& ex, collector_options options, std::string user_agent)
    : options_(std::move(options)),
      user_agent_(std::move(user_agent)),
      server_(ex, options_.host, options_.port, options_.tls)
{}

net::task<delivery> collector::deliver(std::string batch, base::duration timeout)
{
    const control_upload request = request_for(options_, user_agent_, std::move(batch));
    co_return judged(co_await server_.ask(request, timeout, {max_header_bytes, max_body_bytes}));
}

}  // namespace gateway::probes
