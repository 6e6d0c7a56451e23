#include "gateway/probes/collector.hpp"

#include "gateway/base/text.hpp"
#include "gateway/probes/control_http.hpp"

#include <boost/beast/core/error.hpp>
#include <boost/beast/http/error.hpp>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace gateway::probes {

namespace {

using beast::error_code;
using delivery = collector::delivery;

control_upload request_for(
    const collector_options& options, const std::string& user_agent, std::string batch
)
{
    control_upload r(beast::http::verb::post, options.path, 11);
    r.set(beast::http::field::host, base::host_and_port(options.host, options.port));
    r.set(beast::http::field::user_agent, user_agent);
    r.set(beast::http::field::content_type, "application/json");
    r.set(beast::http::field::connection, "close");
    for (const auto& [name, value] : options.headers) {
        r.set(name, value);
    }
    r.body() = std::move(batch);
    r.prepare_payload();
    return r;
}

// Returns the result of a connection that came to nothing. An answer that is no HTTP will not
// become any by repetition.
delivery failed(const error_code& ec)
{
    using beast::http::error;
    const bool is_http = ec.category() == make_error_code(error::end_of_stream).category();
    const bool is_cut = ec == error::end_of_stream || ec == error::partial_message;
    return {
        .complaint = ec == beast::error::timeout ? "no answer in time" : ec.message(),
        .may_repeat = !is_http || is_cut};
}

// Judges a response by its status, as OTLP has it. `ec` is what went wrong behind its head.
delivery judged(const control_response& response, const error_code& ec)
{
    constexpr std::array<unsigned, 4> passing{429, 502, 503, 504};
    const unsigned status = response.result_int();
    if (status >= 200 && status <= 299) {
        return ec ? delivery{.complaint = ec.message()} : delivery{.body = response.body()};
    }
    return {
        .complaint = "status " + std::to_string(status),
        .may_repeat = std::find(passing.begin(), passing.end(), status) != passing.end(),
        .retry_after = std::string{response[beast::http::field::retry_after]}};
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
net::task<delivery> ask(Stream& s, const control_upload& request)
{
    const error_code unsent = co_await write(s, request);
    beast::flat_buffer buffer(collector::max_header_bytes + collector::max_body_bytes);
    beast::http::response_parser<beast::http::string_body> parser;
    parser.header_limit(collector::max_header_bytes);
    parser.body_limit(collector::max_body_bytes);
    const error_code ec = co_await read(s, buffer, parser);
    if (!parser.is_header_done()) {
        co_return failed(unsent ? unsent : ec);
    }
    co_return judged(parser.get(), ec);
}

}  // namespace

collector::collector(const net::executor& ex, collector_options options, std::string user_agent)
    : executor_(ex),
      options_(std::move(options)),
      user_agent_(std::move(user_agent)),
      name_(net::resolved_name::of_host(ex, options_.host, options_.port, {}, [] {})),
      tls_(options_.tls ? net::tls_client::make(*options_.tls, options_.host) : nullptr)
{}

net::task<delivery> collector::deliver(std::string batch, base::duration timeout)
{
    control_stream s(executor_);
    s.expires_after(timeout);
    if (std::string complaint = co_await connect_to_any(s, name_); !complaint.empty()) {
        co_return delivery{.complaint = std::move(complaint), .may_repeat = true};
    }
    const control_upload request = request_for(options_, user_agent_, std::move(batch));
    if (tls_ == nullptr) {
        co_return co_await ask(s, request);
    }
    control_tls coded(s, *tls_);
    if (const error_code ec = co_await coded.shake_hands()) {
        const std::string complaint = coded.complaint();
        co_return delivery{
            .complaint = complaint.empty() ? failed(ec).complaint : complaint, .may_repeat = true};
    }
    co_return co_await ask(coded, request);
}

}  // namespace gateway::probes
