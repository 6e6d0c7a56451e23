#include "gateway/server/echo.hpp"

#include "gateway/net/listener.hpp"
#include "gateway/net/task.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/basic_stream.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <boost/json.hpp>

#include <thread>

namespace gateway::server {

namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;

using tcp = asio::ip::tcp;
using stream = boost::beast::basic_stream<tcp, net::executor>;
using acceptor = asio::basic_socket_acceptor<tcp, net::executor>;

constexpr std::chrono::seconds idle_limit{300};

// Bytes that are no UTF-8 cannot stand in JSON: each becomes U+00XX, as Latin-1 is read.
boost::json::string as_json(boost::beast::string_view bytes)
{
    boost::json::string out;
    for (const char c : bytes) {
        const auto u = static_cast<unsigned char>(c);
        if (u < 0x80) {
            out.push_back(c);
        } else {
            out.push_back(static_cast<char>(0xc0 | (u >> 6)));
            out.push_back(static_cast<char>(0x80 | (u & 0x3f)));
        }
    }
    return out;
}

std::string described(const http::request<http::string_body>& request)
{
    boost::json::array headers;
    for (const auto& field : request) {
        headers.push_back({as_json(field.name_string()), as_json(field.value())});
    }
    const boost::json::value description{
        {"method", as_json(request.method_string())},
        {"target", as_json(request.target())},
        {"headers", headers},
        {"body", as_json(request.body())},
    };
    return boost::json::serialize(description) + "\n";
}

http::response<http::string_body> response_to(const http::request<http::string_body>& request)
{
    http::response<http::string_body> response(http::status::ok, 11);
    response.set(http::field::content_type, "application/json");
    response.keep_alive(request.keep_alive());
    response.body() = described(request);
    response.prepare_payload();
    return response;
}

net::task<> serve(stream s)
{
    boost::beast::flat_buffer buffer;
    bool keep_alive = true;
    while (keep_alive) {
        http::request_parser<http::string_body> parser;
        parser.body_limit(echo_server::max_body_bytes);
        parser.header_limit(64 * 1024);
        s.expires_after(idle_limit);
        auto [header_ec, header_n] =
            co_await http::async_read_header(s, buffer, parser, net::use_task);
        if (header_ec) {
            break;
        }
        if (parser.get()[http::field::expect] == "100-continue") {
            http::response<http::empty_body> go_on(http::status::continue_, 11);
            auto [ec, n] = co_await http::async_write(s, go_on, net::use_task);
            if (ec) {
                break;
            }
        }
        auto [read_ec, read_n] = co_await http::async_read(s, buffer, parser, net::use_task);
        if (read_ec == http::error::body_limit) {
            http::response<http::string_body> too_large(http::status::payload_too_large, 11);
            too_large.keep_alive(false);
            too_large.prepare_payload();
            co_await http::async_write(s, too_large, net::use_task);
            break;
        }
        if (read_ec) {
            break;
        }
        auto response = response_to(parser.get());
        keep_alive = response.keep_alive();
        if (parser.get().method() == http::verb::head) {
            response.body().clear();  // its length is told all the same
        }
        auto [write_ec, write_n] = co_await http::async_write(s, response, net::use_task);
        if (write_ec) {
            break;
        }
    }
    boost::system::error_code ignored;
    s.socket().shutdown(tcp::socket::shutdown_send, ignored);
}

net::task<> listen(acceptor& a)
{
    net::timer pause(a.get_executor());
    while (a.is_open()) {
        asio::basic_stream_socket<tcp, net::executor> socket(a.get_executor());
        auto [ec] = co_await a.async_accept(socket, net::use_task);
        if (ec == asio::error::operation_aborted) {
            break;
        }
        if (ec) {  // out of descriptors, perhaps: do not spin
            pause.expires_after(net::listener::pause_after_failure);
            co_await pause.async_wait(net::use_task);
        } else {
            boost::system::error_code ignored;
            socket.set_option(tcp::no_delay(true), ignored);
            asio::co_spawn(a.get_executor(), serve(stream(std::move(socket))), asio::detached);
        }
    }
}

}  // namespace

struct echo_server::state {
    asio::io_context context{1};
    acceptor listening{context, tcp::endpoint(asio::ip::address_v4::loopback(), 0)};
    std::thread thread;
};

echo_server::echo_server() : state_(std::make_unique<state>())
{
    asio::co_spawn(state_->context, listen(state_->listening), asio::detached);
    state_->thread = std::thread([this] { state_->context.run(); });
}

// Its clients are this process's own workers, which have ended by now: nothing is cut off.
echo_server::~echo_server()
{
    state_->context.stop();
    state_->thread.join();
}

unsigned short echo_server::port() const
{
    return state_->listening.local_endpoint().port();
}

}  // namespace gateway::server
