#include "gateway/server/control_http.hpp"

#include <boost/asio/write.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/write.hpp>

namespace gateway::server {

net::task<beast::error_code> read_header(
    control_stream& s, beast::flat_buffer& buffer, beast::http::basic_parser<true>& into
)
{
    auto [ec, n] = co_await beast::http::async_read_header(s, buffer, into, net::use_task);
    co_return ec;
}

net::task<beast::error_code> read(
    control_stream& s, beast::flat_buffer& buffer, beast::http::basic_parser<true>& into
)
{
    auto [ec, n] = co_await beast::http::async_read(s, buffer, into, net::use_task);
    co_return ec;
}

net::task<beast::error_code> read(
    control_stream& s, beast::flat_buffer& buffer, beast::http::basic_parser<false>& into
)
{
    auto [ec, n] = co_await beast::http::async_read(s, buffer, into, net::use_task);
    co_return ec;
}

net::task<beast::error_code> write(control_stream& s, std::string_view bytes)
{
    const auto buffer = boost::asio::buffer(bytes);
    auto [ec, n] = co_await boost::asio::async_write(s, buffer, net::use_task);
    co_return ec;
}

net::task<beast::error_code> write(control_stream& s, const control_request& r)
{
    auto [ec, n] = co_await beast::http::async_write(s, r, net::use_task);
    co_return ec;
}

net::task<beast::error_code> write(
    control_stream& s, const beast::http::request<beast::http::string_body>& r
)
{
    auto [ec, n] = co_await beast::http::async_write(s, r, net::use_task);
    co_return ec;
}

net::task<beast::error_code> write(control_stream& s, const control_response& r)
{
    auto [ec, n] = co_await beast::http::async_write(s, r, net::use_task);
    co_return ec;
}

}  // namespace gateway::server
