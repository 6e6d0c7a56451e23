#include "gateway/probes/echo.hpp"

#include "gateway/net/listener.hpp"
#include "gateway/net/reported.hpp"
#include "gateway/probes/control_http.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/json.hpp>

#include <thread>

namespace gateway::probes {

namespace {

namespace asio = boost::asio;

using tcp = asio::ip::tcp;
using tcp_acceptor = asio::basic_socket_acceptor<tcp, net::executor>;
using echo_request = beast::http::request<beast::http::string_body>;

constexpr std::chrono::seconds idle_limit{300};

// Returns the bytes as text for JSON, which cannot hold bytes that are not UTF-8. Each byte from
// 0x80 on becomes U+00XX, as if it were Latin-1.
boost::json::string as_json(beast::string_view bytes)
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

std::string described(const echo_request& asked)
{
    boost::json::array headers;
    for (const auto& field : asked) {
        headers.push_back({as_json(field.name_string()), as_json(field.value())});
    }
    const boost::json::value description{
        {"method", as_json(asked.method_string())},
        {"target", as_json(asked.target())},
        {"headers", headers},
        {"body", as_json(asked.body())},
    };
    return boost::json::serialize(description) + "\n";
}

control_response response_to(const echo_request& asked)
{
    control_response response(beast::http::status::ok, 11);
    response.set(beast::http::field::content_type, "application/json");
    response.keep_alive(asked.keep_alive());
    response.body() = described(asked);
    response.prepare_payload();
    if (asked.method() == beast::http::verb::head) {
        response.body().clear();  // its length is stated all the same
    }
    return response;
}

control_response too_large()
{
    control_response response(beast::http::status::payload_too_large, 11);
    response.keep_alive(false);
    response.prepare_payload();
    return response;
}

net::task<> serve(control_stream s)
{
    beast::flat_buffer buffer(echo_server::max_head_bytes + echo_server::max_body_bytes);
    for (bool keep_alive = true; keep_alive;) {
        beast::http::request_parser<beast::http::string_body> parser;
        parser.body_limit(echo_server::max_body_bytes);
        parser.header_limit(echo_server::max_head_bytes);
        s.expires_after(idle_limit);
        beast::error_code ec = co_await read_header(s, buffer, parser);
        if (!ec && parser.get()[beast::http::field::expect] == "100-continue") {
            ec = co_await write(s, std::string_view{"HTTP/1.1 100 Continue\r\n\r\n"});
        }
        if (!ec) {
            ec = co_await read(s, buffer, parser);
        }
        if (ec && ec != beast::http::error::body_limit) {
            break;
        }
        const control_response response = ec ? too_large() : response_to(parser.get());
        ec = co_await write(s, response);
        keep_alive = !ec && response.keep_alive();
    }
    boost::system::error_code ignored;
    s.socket().shutdown(net::stream_socket::shutdown_send, ignored);
}

net::task<> listen(tcp_acceptor& a)
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
            asio::co_spawn(
                a.get_executor(), serve(control_stream(std::move(socket))), asio::detached
            );
        }
    }
}

}  // namespace

struct echo_server::state {
    asio::io_context context{1};
    tcp_acceptor listening{context, tcp::endpoint(asio::ip::address_v4::loopback(), 0)};
    std::thread thread;
};

echo_server::echo_server() : state_(std::make_unique<state>())
{
    asio::co_spawn(
        state_->context, listen(state_->listening), net::reported("the built-in echo server")
    );
    state_->thread = std::thread([this] { state_->context.run(); });
}

// Stops the server. Its clients are this process's own workers, which have ended by now, so nothing
// is cut off.
echo_server::~echo_server()
{
    state_->context.stop();
    state_->thread.join();
}

unsigned short echo_server::port() const
{
    return state_->listening.local_endpoint().port();
}

}  // namespace gateway::probes
