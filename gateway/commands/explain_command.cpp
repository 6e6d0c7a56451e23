#include "gateway/commands/explain_command.hpp"

#include "config/urls/address.hpp"
#include "gateway/admin/explanation_json.hpp"
#include "gateway/commands/explained_text.hpp"
#include "gateway/net/listen_address.hpp"
#include "gateway/probes/control_http.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/json.hpp>

namespace gateway {

namespace {

namespace asio = boost::asio;
namespace http_of_beast = boost::beast::http;

using post_request = http_of_beast::request<http_of_beast::string_body>;
using endpoint = asio::generic::stream_protocol::endpoint;

// Longest time to connect and be answered, more than any admin.timeout that an operator waits for.
constexpr base::duration longest_wait = std::chrono::seconds{20};

post_request explain_post(
    const intake::hypothetical_request& hypothetical, const std::string& token
)
{
    boost::json::object headers;
    for (const auto& [name, value] : hypothetical.headers) {
        boost::json::value& lines = headers[name];
        if (lines.is_null()) {
            lines = boost::json::array();
        }
        lines.get_array().emplace_back(value);
    }
    const boost::json::value body{
        {"method", hypothetical.method},
        {"url", hypothetical.url},
        {"headers", std::move(headers)},
        {"body", hypothetical.content},
        {"peer", hypothetical.peer},
    };
    post_request r(http_of_beast::verb::post, "/v1/explain", 11);
    r.set(http_of_beast::field::host, "localhost");
    r.set(http_of_beast::field::content_type, "application/json");
    r.set(http_of_beast::field::connection, "close");
    if (!token.empty()) {
        r.set(http_of_beast::field::authorization, "Bearer " + token);
    }
    r.body() = boost::json::serialize(body);
    r.prepare_payload();
    return r;
}

struct api_response {
    boost::beast::error_code ec;
    unsigned status = 0;
    std::string body;
};

net::task<> exchange(endpoint where, post_request request, api_response& response)
{
    probes::control_stream s(co_await asio::this_coro::executor);
    s.expires_after(longest_wait);
    auto [refused] = co_await s.async_connect(where, net::use_task);
    response.ec = refused;
    if (!response.ec) {
        response.ec = co_await probes::write(s, request);
    }
    boost::beast::flat_buffer buffer;
    http_of_beast::response_parser<http_of_beast::string_body> parser;
    if (!response.ec) {
        response.ec = co_await probes::read(s, buffer, parser);
        response.status = parser.get().result_int();
        response.body = parser.get().body();
    }
}

// Returns the running gateway's explanation, or nothing and sets `complaint` to what went wrong.
std::optional<boost::json::object> ask_gateway(
    const net::listen_address& admin, post_request request, std::string& complaint
)
{
    asio::io_context context;
    api_response response;
    asio::co_spawn(
        context.get_executor(),
        exchange(endpoint_of(admin), std::move(request), response),
        asio::detached
    );
    context.run();
    if (response.ec) {
        complaint = "the admin API on " + config::to_text(admin) + ": " + response.ec.message();
        return std::nullopt;
    }
    boost::json::error_code bad;
    boost::json::value parsed = boost::json::parse(response.body, bad);
    if (bad || !parsed.is_object()) {
        complaint = "the admin API on " + config::to_text(admin) + " answered no JSON";
        return std::nullopt;
    }
    if (response.status != 200) {
        const boost::json::value* const detail = parsed.get_object().if_contains("detail");
        complaint = "the admin API answered " + std::to_string(response.status) + ": " +
                    (detail != nullptr && detail->is_string() ? std::string{detail->get_string()}
                                                              : response.body);
        return std::nullopt;
    }
    return std::move(parsed.get_object());
}

}  // namespace

int explain_request(
    const config::settings& settings,
    const cli::request& request,
    std::ostream& out,
    std::ostream& err
)
{
    std::string complaint;
    if (request.admin) {
        const auto explanation = ask_gateway(
            *request.admin,
            explain_post(request.hypothetical, settings.server.admin_token.text),
            complaint
        );
        if (!explanation) {
            err << complaint << '\n';
            return cli::failed_while_running;
        }
        write_explanation(*explanation, out);
        return cli::done;
    }
    const limits::explanation e =
        limits::explain(settings.policy, settings.http, request.hypothetical, complaint);
    if (!complaint.empty()) {
        err << complaint << '\n';
        return cli::wrong_usage;
    }
    write_explanation(admin::as_json(e, {}).get_object(), out);
    return cli::done;
}

}  // namespace gateway
