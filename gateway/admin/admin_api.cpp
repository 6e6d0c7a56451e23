#include "gateway/admin/admin_api.hpp"

#include "gateway/admin/accepted.hpp"
#include "gateway/admin/admin_access.hpp"
#include "gateway/admin/admin_limits.hpp"
#include "gateway/admin/page/page_file.hpp"
#include "gateway/base/text.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <array>
#include <optional>

namespace gateway::admin {

namespace {

using beast::http::field;
using beast::http::status;
using beast::http::verb;
using operation_kind = limits::bucket_operation::kind;

struct admin_call {
    std::string_view path;
    // True for GET and HEAD. False for POST with a body of JSON.
    bool reads = true;
    // True if the call needs the token.
    bool guarded = false;
    // The operation, for a call on one bucket.
    std::optional<operation_kind> about_bucket{};
};

constexpr std::string_view stream_path = "/v1/stream";

constexpr std::array<admin_call, 14> calls{{
    {"/metrics"},
    {"/healthz"},
    {"/readyz"},
    {"/v1/limits"},
    {stream_path},
    {"/v1/top", true, true},
    {"/v1/bans", true, true},
    {"/v1/explain", false, true},
    {"/v1/look", false, true, operation_kind::look},
    {"/v1/take", false, true, operation_kind::take},
    {"/v1/reset", false, true, operation_kind::reset},
    {"/v1/grant", false, true, operation_kind::grant},
    {"/v1/ban", false, true, operation_kind::ban},
    {"/v1/unban", false, true, operation_kind::unban},
}};

// Returns the call, or null if there is none.
const admin_call* find_call(std::string_view path)
{
    const auto found = std::find_if(calls.begin(), calls.end(), [path](const admin_call& one) {
        return one.path == path;
    });
    return found == calls.end() ? nullptr : &*found;
}

probes::control_response unknown_call()
{
    std::string paths;
    for (const admin_call& c : calls) {
        paths.append(paths.empty() ? "try " : c.path == calls.back().path ? " or " : ", ");
        paths += c.path;
    }
    return problem(status::not_found, paths);
}

probes::control_response wrong_method(const admin_call& c)
{
    probes::control_response r =
        problem(status::method_not_allowed, c.reads ? "only GET and HEAD here" : "only POST here");
    r.set(field::allow, c.reads ? "GET, HEAD" : "POST");
    return r;
}

probes::control_response not_let_in(access why)
{
    if (why == access::closed) {
        return problem(
            status::forbidden, "the configuration has no admin.token_file: nobody may do this"
        );
    }
    probes::control_response r =
        problem(status::unauthorized, "expected Authorization: Bearer and the token");
    r.set(field::www_authenticate, "Bearer realm=\"gateway admin API\"");
    return r;
}

// True if the type is JSON. Parameters, such as a charset, add nothing to it.
bool is_json(std::string_view content_type)
{
    const std::string_view type = base::trimmed(content_type.substr(0, content_type.find(';')));
    return base::equal_ignoring_case(type, "application/json");
}

// True if the request was meant for this API. Every name is right over a Unix socket, as no browser
// reaches one.
bool is_meant_for(
    const net::listen_address& address,
    const std::vector<std::string>& hosts,
    const admin_request& asked
)
{
    return !address.socket_path.empty() || answers_to(host_of(asked), hosts);
}

probes::control_response misdirected()
{
    return problem(
        status::misdirected_request,
        "the admin API answers to addresses, localhost and the names in admin.hosts only"
    );
}

bool is_read(const admin_request& asked)
{
    return asked.method() == verb::get || asked.method() == verb::head;
}

// Returns the refusal, or nothing if the call may be made.
std::optional<probes::control_response> refused(
    const admin_request& asked, const std::string& token
)
{
    const admin_call* const found = find_call(path_of(asked));
    if (found == nullptr) {
        return find_page_file(path_of(asked)) ? wrong_method({path_of(asked)}) : unknown_call();
    }
    const admin_call& c = *found;
    if (c.reads ? !is_read(asked) : asked.method() != verb::post) {
        return wrong_method(c);
    }
    if (c.guarded) {
        const access let_in = access_with(token, only_field(asked, field::authorization));
        if (let_in != access::granted) {
            return not_let_in(let_in);
        }
    }
    if (!c.reads && !is_json(only_field(asked, field::content_type))) {
        return problem(status::unsupported_media_type, "expected Content-Type: application/json");
    }
    return std::nullopt;
}

probes::control_response as_response(const readiness& r)
{
    const bool ready = r.reasons.empty();
    boost::json::array servers;
    for (const auto& [upstream, server] : r.servers_down) {
        servers.push_back({{"upstream", upstream}, {"server", server}});
    }
    boost::json::object body{
        {"ready", ready},
        {"reasons", boost::json::value_from(r.reasons)},
        {"stores_down", boost::json::value_from(r.stores_down)},
        {"servers_down", servers},
    };
    if (!r.jwks.empty()) {
        body["jwks"] = r.jwks;
    }
    return reply(
        ready ? status::ok : status::service_unavailable,
        "application/json",
        boost::json::serialize(body) + "\n"
    );
}

// Answers a viewer of the stream. One that shows a token shows the right one, and sees more.
admin_answer open_stream(const admin_request& asked, const std::string& token)
{
    viewing what;
    if (asked.find(field::authorization) != asked.end()) {
        const access let_in = access_with(token, only_field(asked, field::authorization));
        if (let_in != access::granted) {
            return {not_let_in(let_in)};
        }
        what.for_whom = audience::with_token;
    }
    what.seen = only_field(asked, std::string_view{"Last-Event-ID"});
    admin_answer answer{reply(status::ok, "text/event-stream", {})};
    answer.response.set("X-Accel-Buffering", "no");
    if (asked.method() == verb::get) {
        answer.stream = std::move(what);
    }
    return answer;
}

constexpr std::string_view prometheus_text = "text/plain; version=0.0.4; charset=utf-8";
constexpr std::string_view openmetrics_text =
    "application/openmetrics-text; version=1.0.0; charset=utf-8";

}  // namespace

net::task<admin_answer> admin_api::answer(const admin_request& asked, const std::string& peer) const
{
    // The answer has a name: GCC 12 destroys twice what is made in braces around a co_await.
    admin_answer answer;
    const std::optional<page_file> file =
        is_read(asked) ? find_page_file(path_of(asked)) : std::nullopt;
    if (!is_meant_for(options_.address, from_.hosts(), asked)) {
        answer.response = misdirected();
    } else if (file) {
        answer.response = answer_page_file(asked, *file);
    } else if (auto refusal = refused(asked, from_.token())) {
        answer.response = *std::move(refusal);
    } else if (path_of(asked) == stream_path) {
        answer = open_stream(asked, from_.token());
    } else {
        answer.response = co_await dispatch(asked, peer);
    }
    co_return answer;
}

// Answers a request that was not refused.
net::task<probes::control_response> admin_api::dispatch(
    const admin_request& asked, const std::string& peer
) const
{
    const std::string_view path = path_of(asked);
    const admin_waiting wait{loop_, base::now() + options_.timeout};
    if (path == "/metrics") {
        const auto accept = asked[probes::beast::http::field::accept];
        const bool is_open = accepts_openmetrics({accept.data(), accept.size()});
        const auto format = is_open ? telemetry::exposition_format::openmetrics
                                    : telemetry::exposition_format::prometheus;
        co_return compressed_for(
            asked,
            reply(status::ok, is_open ? openmetrics_text : prometheus_text, from_.metrics(format))
        );
    }
    if (path == "/healthz") {
        co_return reply(status::ok, "application/json", "{\"healthy\":true}\n");
    }
    if (path == "/readyz") {
        co_return as_response(from_.ready());
    }
    if (path == "/v1/limits") {
        co_return reply(describe_limits(*from_.policy(), from_.totals()));
    }
    if (path == "/v1/top") {
        co_return co_await answer_top(from_, wait, query_of(asked));
    }
    if (path == "/v1/bans") {
        co_return co_await answer_bans(from_, wait, query_of(asked));
    }
    if (path == "/v1/explain") {
        co_return co_await answer_explain(from_, wait, asked.body());
    }
    const operation_kind what = find_call(path)->about_bucket.value();
    co_return co_await answer_about_bucket(from_, wait, what, asked.body(), peer);
}

}  // namespace gateway::admin
