#include "gateway/commands/admin_client.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/json.hpp>

namespace gateway {

namespace {

namespace asio = boost::asio;
namespace http_of_beast = boost::beast::http;

net::task<> exchange(
    const net::listen_address& admin,
    const probes::control_upload& request,
    base::duration longest_wait,
    admin_reply& reply
)
{
    probes::control_stream s(co_await asio::this_coro::executor);
    s.expires_after(longest_wait);
    auto [ec] = co_await s.async_connect(endpoint_of(admin), net::use_task);
    if (!ec) {
        ec = co_await probes::write(s, request);
    }
    boost::beast::flat_buffer buffer;
    http_of_beast::response_parser<http_of_beast::string_body> parser;
    if (!ec) {
        ec = co_await probes::read(s, buffer, parser);
    }
    if (ec) {
        reply.failed = ec.message();
    } else {
        reply.status = parser.get().result_int();
        reply.body = parser.get().body();
    }
}

}  // namespace

admin_reply ask_admin(
    const net::listen_address& admin, probes::control_upload request, base::duration longest_wait
)
{
    request.set(http_of_beast::field::host, "localhost");
    request.set(http_of_beast::field::connection, "close");
    asio::io_context context{1};
    admin_reply reply;
    asio::co_spawn(
        context.get_executor(), exchange(admin, request, longest_wait, reply), asio::detached
    );
    context.run();
    return reply;
}

std::string problem_detail(std::string_view body)
{
    boost::json::error_code bad;
    const boost::json::value parsed = boost::json::parse(body, bad);
    const boost::json::value* const detail =
        bad || !parsed.is_object() ? nullptr : parsed.get_object().if_contains("detail");
    return detail != nullptr && detail->is_string() ? std::string{detail->get_string()}
                                                    : std::string{};
}

}  // namespace gateway
