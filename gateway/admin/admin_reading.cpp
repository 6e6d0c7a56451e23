#include "gateway/admin/admin_reading.hpp"

#include "gateway/base/text.hpp"
#include "gateway/http/authority.hpp"

#include <boost/beast/http/error.hpp>

#include <array>
#include <iterator>
#include <string>

namespace gateway::admin {

namespace {

using beast::http::field;
using beast::http::status;

constexpr std::size_t most_dropped = 1024 * 1024;

// True if the head has one well-formed Host, which may be empty (RFC 9112 §3.2). HTTP/1.0 may omit
// it. The authority of a whole URL must be well-formed, too.
bool has_good_host(const admin_request& head)
{
    const auto [first, end] = head.equal_range(field::host);
    if (first == end) {
        return head.version() < 11;
    }
    const std::string_view host(first->value().data(), first->value().size());
    const auto is_good = [](std::string_view one) {
        return one.empty() || http::is_authority(one);
    };
    return std::next(first) == end && is_good(host) && is_good(host_of(head));
}

// True if the end of the request is certain (RFC 9112 §6.1).
bool has_good_coding(const admin_request& head)
{
    return head.count(field::transfer_encoding) == 0 ||
           base::equal_ignoring_case(only_field(head, field::transfer_encoding), "chunked");
}

heard_request refused(status code, std::string_view detail)
{
    return {.refusal = problem(code, detail)};
}

// Converts the outcome of a read.
heard_request result_of(const beast::error_code& ec)
{
    using beast::http::error;
    if (!ec) {
        return {};
    }
    if (ec == error::body_limit) {
        return refused(status::payload_too_large, "the body is too large");
    }
    if (ec == error::header_limit) {
        return refused(status::request_header_fields_too_large, "the head is too large");
    }
    return probes::is_malformed(ec)
               ? refused(status::bad_request, "malformed request: " + ec.message())
               : heard_request{.gone = true};
}

}  // namespace

net::task<heard_request> hear(
    probes::control_stream& s, beast::flat_buffer& buffer, admin_parser& into
)
{
    beast::error_code ec = co_await probes::read_header(s, buffer, into);
    if (ec) {
        co_return result_of(ec);
    }
    const admin_request& head = into.get();
    if (!has_good_host(head)) {
        co_return refused(status::bad_request, "expected one Host, of a name or an address");
    }
    if (!has_good_coding(head)) {
        co_return refused(status::bad_request, "expected no Transfer-Encoding but chunked");
    }
    // The expectation of an HTTP/1.0 request is ignored (RFC 9110 §10.1.1).
    const bool waits = head.version() >= 11 &&
                       base::equal_ignoring_case(only_field(head, field::expect), "100-continue");
    if (waits && !into.is_done()) {
        ec = co_await probes::write(s, std::string_view{"HTTP/1.1 100 Continue\r\n\r\n"});
        if (ec) {
            co_return heard_request{.gone = true};
        }
    }
    ec = co_await probes::read(s, buffer, into);
    co_return result_of(ec);
}

net::task<> part_with(probes::control_stream& s)
{
    boost::system::error_code ec;
    s.socket().shutdown(boost::asio::socket_base::shutdown_send, ec);
    std::array<char, 16 * 1024> rest{};
    for (std::size_t read = 0; !ec && read < most_dropped;) {
        const auto [failed, count] =
            co_await s.async_read_some(boost::asio::buffer(rest), net::use_task);
        ec = failed;
        read += count;
    }
}

}  // namespace gateway::admin
