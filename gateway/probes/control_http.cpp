#include "gateway/probes/control_http.hpp"

#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/write.hpp>
#include <openssl/x509_vfy.h>

namespace gateway::probes {

namespace {

// Returns the context with one reference more, which Asio's context frees.
SSL_CTX* shared(SSL_CTX* context)
{
    SSL_CTX_up_ref(context);
    return context;
}

template <typename Stream>
net::task<beast::error_code> read_more(Stream& s, std::string& into)
{
    constexpr std::size_t most_at_once = 16 * 1024;
    const std::size_t before = into.size();
    into.resize(before + most_at_once);
    const auto buffer = boost::asio::buffer(into.data() + before, most_at_once);
    auto [ec, n] = co_await s.async_read_some(buffer, net::use_task);
    into.resize(before + n);
    co_return ec;
}

template <typename Stream>
net::task<beast::error_code> write_all(Stream& s, std::string_view bytes)
{
    auto [ec, n] = co_await boost::asio::async_write(s, boost::asio::buffer(bytes), net::use_task);
    co_return ec;
}

}  // namespace

struct control_tls::stream {
    boost::asio::ssl::context context;
    boost::asio::ssl::stream<control_stream&> coded;

    stream(control_stream& s, const net::tls_client& to)
        : context(shared(to.context())), coded(s, context)
    {
        to.expect_server(coded.native_handle());
    }
};

bool is_malformed(const beast::error_code& ec)
{
    using beast::http::error;
    return ec.category() == make_error_code(error::end_of_stream).category() &&
           ec != error::end_of_stream && ec != error::partial_message;
}

std::string complaint_about(const beast::error_code& ec)
{
    using beast::http::error;
    if (ec == error::end_of_stream || ec == boost::asio::error::eof ||
        ec == boost::asio::ssl::error::stream_truncated) {
        return "it closed the connection without an answer";
    }
    if (ec == error::partial_message) {
        return "it closed the connection before the end of its answer";
    }
    if (ec == error::header_limit) {
        return "the head of its answer is too long";
    }
    if (ec == error::body_limit || ec == error::buffer_overflow) {
        return "its answer is too long";
    }
    return is_malformed(ec) ? "its answer is no HTTP/1.1: " + ec.message() : ec.message();
}

net::task<beast::error_code> read_header(
    control_stream& s, beast::flat_buffer& buffer, beast::http::basic_parser<true>& into
)
{
    auto [ec, n] = co_await beast::http::async_read_header(s, buffer, into, net::use_task);
    co_return ec;
}

template <bool is_request>
net::task<beast::error_code> read(
    control_stream& s, beast::flat_buffer& buffer, beast::http::basic_parser<is_request>& into
)
{
    auto [ec, n] = co_await beast::http::async_read(s, buffer, into, net::use_task);
    co_return ec;
}

net::task<beast::error_code> read_some(control_stream& s, std::string& into)
{
    return read_more(s, into);
}

net::task<beast::error_code> write(control_stream& s, std::string_view bytes)
{
    return write_all(s, bytes);
}

template <bool is_request, typename Body>
net::task<beast::error_code> write(
    control_stream& s, const beast::http::message<is_request, Body>& r
)
{
    auto [ec, n] = co_await beast::http::async_write(s, r, net::use_task);
    co_return ec;
}

using outcome = net::task<beast::error_code>;
template outcome read(control_stream&, beast::flat_buffer&, beast::http::basic_parser<true>&);
template outcome read(control_stream&, beast::flat_buffer&, beast::http::basic_parser<false>&);
template outcome write(control_stream&, const control_request&);
template outcome write(control_stream&, const control_response&);
template outcome write(control_stream&, const control_upload&);

control_tls::control_tls(control_stream& s, const net::tls_client& to)
    : stream_(std::make_unique<stream>(s, to))
{}

control_tls::~control_tls() = default;

net::task<beast::error_code> control_tls::shake_hands()
{
    const auto side = boost::asio::ssl::stream_base::client;
    auto [ec] = co_await stream_->coded.async_handshake(side, net::use_task);
    co_return ec;
}

std::string control_tls::complaint() const
{
    SSL* const ssl = stream_->coded.native_handle();
    const long verdict = SSL_get_verify_result(ssl);
    if (verdict == X509_V_OK || SSL_get_verify_mode(ssl) == SSL_VERIFY_NONE) {
        return {};
    }
    return std::string{"its certificate: "} + X509_verify_cert_error_string(verdict);
}

std::string_view control_tls::protocol() const
{
    const unsigned char* name = nullptr;
    unsigned int size = 0;
    SSL_get0_alpn_selected(stream_->coded.native_handle(), &name, &size);
    return {reinterpret_cast<const char*>(name), size};
}

net::task<beast::error_code> read_some(control_tls& s, std::string& into)
{
    return read_more(s.stream_->coded, into);
}

net::task<beast::error_code> write(control_tls& s, std::string_view bytes)
{
    return write_all(s.stream_->coded, bytes);
}

net::task<beast::error_code> read(
    control_tls& s, beast::flat_buffer& buffer, beast::http::basic_parser<false>& into
)
{
    auto& coded = s.stream_->coded;
    auto [ec, n] = co_await beast::http::async_read(coded, buffer, into, net::use_task);
    co_return ec;
}

template <typename Body>
net::task<beast::error_code> write(control_tls& s, const beast::http::request<Body>& r)
{
    auto [ec, n] = co_await beast::http::async_write(s.stream_->coded, r, net::use_task);
    co_return ec;
}

template outcome write(control_tls&, const control_request&);
template outcome write(control_tls&, const control_upload&);

}  // namespace gateway::probes
