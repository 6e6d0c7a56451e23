// HTTP of the control plane: the admin API, the health checks, the echo server and `gateway
// explain` read and write messages with these coroutines over Beast. Beast is compiled into
// control_http.cpp alone, where it takes most of a minute. Deadlines are the stream's:
// expires_after().
#pragma once

#include "gateway/net/task.hpp"
#include "gateway/net/tls/tls_client.hpp"

#include <boost/beast/core/basic_stream.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include <memory>
#include <string>
#include <string_view>

namespace gateway::probes {

namespace beast = boost::beast;

using control_stream = beast::basic_stream<boost::asio::generic::stream_protocol, net::executor>;
using control_request = beast::http::request<beast::http::empty_body>;
using control_upload = beast::http::request<beast::http::string_body>;
using control_response = beast::http::response<beast::http::string_body>;

// True if what came is no HTTP/1.1, and not only cut off.
bool is_malformed(const beast::error_code& ec);

// Returns what is wrong with a server whose response could not be read, in a few words.
std::string complaint_about(const beast::error_code& ec);

// Reads a header or a message. The buffer's bytes come first, and bytes read too far stay in it.
// Ownership: stream, buffer, parser, bytes and message outlive the task.
net::task<beast::error_code> read_header(
    control_stream& s, beast::flat_buffer& buffer, beast::http::basic_parser<true>& into
);
template <bool is_request>
net::task<beast::error_code> read(
    control_stream& s, beast::flat_buffer& buffer, beast::http::basic_parser<is_request>& into
);

// Appends what has come to `into`, at least a byte.
net::task<beast::error_code> read_some(control_stream& s, std::string& into);

// Writes bytes, such as a PROXY header, or a message.
net::task<beast::error_code> write(control_stream& s, std::string_view bytes);
template <bool is_request, typename Body>
net::task<beast::error_code> write(
    control_stream& s, const beast::http::message<is_request, Body>& r
);

class control_tls;

net::task<beast::error_code> read_some(control_tls& s, std::string& into);
net::task<beast::error_code> write(control_tls& s, std::string_view bytes);
template <typename Body>
net::task<beast::error_code> write(control_tls& s, const beast::http::request<Body>& r);

// `control_tls` is TLS over a connected stream, to the server that `to` is a client of.
class control_tls {
public:
    control_tls(control_stream& s, const net::tls_client& to);
    ~control_tls();

    net::task<beast::error_code> shake_hands();

    // Returns what is wrong with the server's certificate after shake_hands() failed; empty if
    // nothing is.
    std::string complaint() const;

    // Returns the protocol that both have agreed on by ALPN; empty if there is none.
    std::string_view protocol() const;

private:
    struct stream;

    std::unique_ptr<stream> stream_;

    friend net::task<beast::error_code> read_some(control_tls& s, std::string& into);
    friend net::task<beast::error_code> write(control_tls& s, std::string_view bytes);
    friend net::task<beast::error_code> read(
        control_tls& s, beast::flat_buffer& buffer, beast::http::basic_parser<false>& into
    );
    template <typename Body>
    friend net::task<beast::error_code> write(control_tls& s, const beast::http::request<Body>& r);
};

net::task<beast::error_code> read(
    control_tls& s, beast::flat_buffer& buffer, beast::http::basic_parser<false>& into
);

}  // namespace gateway::probes
