#include "gateway/probes/remote_server.hpp"

#include <boost/beast/core/error.hpp>

#include <string>
#include <utility>
#include <vector>

namespace gateway::probes {

namespace {

using beast::error_code;
using answer = remote_server::answer;

// Most responses that only announce another one (RFC 9110 §15.2).
constexpr std::size_t most_interim = 8;

// Returns the result of a connection that came to nothing. An answer that is no HTTP will not
// become any by repetition.
answer failed(const error_code& ec)
{
    return {
        .complaint = ec == beast::error::timeout ? "no answer in time" : complaint_about(ec),
        .may_repeat = !is_malformed(ec)};
}

// Connects to the first address of `name` that accepts. Returns what is wrong with the last one.
net::task<std::string> connect_to_any(control_stream& s, const net::resolved_name& name)
{
    const auto known = name.endpoints();  // These may change meanwhile.
    const std::vector<net::resolved_name::endpoint> addresses(known.begin(), known.end());
    std::string complaint = "its name does not resolve: " + name.error();
    for (const auto& address : addresses) {
        boost::system::error_code ignored;
        s.socket().close(ignored);
        auto [ec] = co_await s.async_connect(address, net::use_task);
        if (!ec) {
            co_return std::string{};
        }
        complaint = failed(ec).complaint;
    }
    co_return complaint;
}

// Reads the response also if the request could not be sent whole, as it may say why.
template <class Stream>
net::task<answer> ask_over(Stream& s, const control_upload& request, remote_server::bounds within)
{
    const error_code unsent = co_await write(s, request);
    beast::flat_buffer buffer(within.head + within.body);
    for (std::size_t interim = 0; interim <= most_interim; ++interim) {
        beast::http::response_parser<beast::http::string_body> parser;
        parser.header_limit(within.head);
        parser.body_limit(within.body);
        const error_code ec = co_await read(s, buffer, parser);
        if (!parser.is_header_done()) {
            co_return failed(unsent ? unsent : ec);
        }
        if (ec || parser.get().result_int() / 100 != 1) {
            answer whole_or_cut = ec ? failed(ec) : answer{};
            whole_or_cut.response = parser.release();
            co_return whole_or_cut;
        }
    }
    co_return answer{
        .complaint = "more than " + std::to_string(most_interim) + " interim responses"};
}

}  // namespace

remote_server::remote_server(
    const net::executor& ex,
    const std::string& host,
    const std::string& port,
    const std::optional<net::tls_client_options>& tls
)
    : executor_(ex),
      known_(ex),
      name_(net::resolved_name::of_host(ex, host, port, {}, [this] { known_.cancel(); })),
      tls_(tls ? net::tls_client::make(*tls, host) : nullptr)
{}

net::task<answer> remote_server::ask(
    const control_upload& request, base::duration timeout, bounds within
)
{
    control_stream s(executor_);
    const base::instant until = base::now() + timeout;
    if (!is_known()) {
        co_await net::pause(known_, timeout);
    }
    if (!is_known()) {
        co_return answer{.complaint = "its name was not resolved in time", .may_repeat = true};
    }
    s.expires_at(until);
    if (std::string complaint = co_await connect_to_any(s, name_); !complaint.empty()) {
        co_return answer{.complaint = std::move(complaint), .may_repeat = true};
    }
    if (tls_ == nullptr) {
        co_return co_await ask_over(s, request, within);
    }
    control_tls coded(s, *tls_);
    if (const error_code ec = co_await coded.shake_hands()) {
        const std::string complaint = coded.complaint();
        co_return answer{
            .complaint = complaint.empty() ? failed(ec).complaint : complaint, .may_repeat = true};
    }
    co_return co_await ask_over(coded, request, within);
}

}  // namespace gateway::probes
