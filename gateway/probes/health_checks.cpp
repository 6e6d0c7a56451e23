#include "gateway/probes/health_checks.hpp"

#include "gateway/base/proxy_header.hpp"
#include "gateway/net/reported.hpp"
#include "gateway/net/resolved_name.hpp"
#include "gateway/net/shortage.hpp"
#include "gateway/net/tcp_endpoint.hpp"
#include "gateway/probes/control_http.hpp"
#include "gateway/probes/http2_check.hpp"
#include "gateway/proxy/servers/health_state.hpp"
#include "gateway/proxy/servers/server_address.hpp"
#include "gateway/telemetry/log.hpp"

#include <boost/asio/co_spawn.hpp>

#include <algorithm>
#include <optional>
#include <random>
#include <utility>

namespace gateway::probes {

namespace {

namespace asio = boost::asio;

control_request request_for(const health_checks::target& t, const std::string& user_agent)
{
    control_request r(beast::http::verb::get, t.options.path, 11);
    r.set(beast::http::field::host, proxy::host_of(t.address));
    r.set(beast::http::field::user_agent, user_agent);
    r.set(beast::http::field::accept, "*/*");
    r.set(beast::http::field::connection, "close");
    return r;
}

std::string text_of(const control_request& r)
{
    std::string text = "GET " + std::string{r.target()} + " HTTP/1.1\r\n";
    for (const auto& f : r) {
        text.append(f.name_string()).append(": ").append(f.value()).append("\r\n");
    }
    return text + "\r\n";
}

// Result of a check: what is wrong with the server, or an empty text if nothing is. Nothing at all
// if the gateway lacked something of its own for the check.
using finding = std::optional<std::string>;

finding finding_of(const boost::system::error_code& ec)
{
    if (!ec) {
        return std::string{};
    }
    if (net::is_our_shortage(ec)) {
        return std::nullopt;
    }
    return ec == beast::error::timeout ? "no complete answer in time" : complaint_about(ec);
}

// Connects to the first address of `name` that accepts.
net::task<finding> connect(control_stream& s, const net::resolved_name& name)
{
    const auto known = name.endpoints();  // these may change meanwhile
    const std::vector<net::resolved_name::endpoint> addresses(known.begin(), known.end());
    finding found = "its name does not resolve: " + name.error();
    for (const auto& address : addresses) {
        boost::system::error_code ignored;
        s.socket().close(ignored);
        auto [ec] = co_await s.async_connect(address, net::use_task);
        found = finding_of(ec);
        if (found && !found->empty()) {
            const std::string at = net::to_text(address);
            found->insert(0, at.empty() ? at : "no connection to " + at + ": ");
        }
        if (!ec || ec == beast::error::timeout) {
            break;
        }
    }
    co_return found;
}

finding finding_of(int status, const proxy::health_options& options)
{
    const bool good = status >= options.expected_first && status <= options.expected_last;
    return good ? std::string{} : "status " + std::to_string(status);
}

template <class Stream>
net::task<finding> read_answer(Stream& s, const proxy::health_options& options)
{
    beast::flat_buffer buffer(health_checks::max_header_bytes + health_checks::max_body_bytes);
    for (int interim = 0; interim <= health_checks::max_interim_responses; ++interim) {
        beast::http::response_parser<beast::http::string_body> parser;
        parser.header_limit(health_checks::max_header_bytes);
        parser.body_limit(health_checks::max_body_bytes);
        const beast::error_code ec = co_await read(s, buffer, parser);
        if (ec && ec != beast::http::error::body_limit) {
            co_return finding_of(ec);
        }
        const int status = static_cast<int>(parser.get().result_int());
        if (status >= 200) {
            co_return finding_of(status, options);
        }
    }
    co_return "nothing but interim responses";
}

template <class Stream>
net::task<finding> ask(
    Stream& s, const control_request& request, const proxy::health_options& options
)
{
    if (const beast::error_code ec = co_await write(s, request)) {
        co_return finding_of(ec);
    }
    co_return co_await read_answer(s, options);
}

// Asks over HTTP/2.
template <class Stream>
net::task<finding> ask_streams(Stream& s, const health_checks::target& t, std::string head)
{
    http2_check check(
        std::move(head),
        t.tls ? "https" : "http",
        health_checks::max_header_bytes,
        health_checks::max_body_bytes
    );
    std::string received;
    while (!check.is_done()) {
        const std::string due = check.take_output();
        if (const beast::error_code ec = co_await write(s, std::string_view(due))) {
            co_return finding_of(ec);
        }
        received.clear();
        if (const beast::error_code ec = co_await read_some(s, received)) {
            co_return finding_of(ec);
        }
        if (!check.receive(received)) {
            co_return "what it sends is no HTTP/2";
        }
    }
    co_return check.status() == 0 ? "no response over HTTP/2"
                                  : finding_of(check.status(), t.options);
}

}  // namespace

struct health_checks::checked_server {
    target what;
    control_request request;
    proxy::health_state state;
    net::resolved_name name;
    // Null if the server is checked without TLS.
    std::shared_ptr<net::tls_client> tls;
    net::timer wait;
    std::minstd_rand random{std::random_device{}()};
    std::uint64_t good = 0;
    std::uint64_t failed = 0;
    bool abandoned = false;

    checked_server(const net::executor& ex, target t, const std::string& user_agent, bool healthy)
        : what(std::move(t)),
          request(request_for(what, user_agent)),
          state(what.options, healthy),
          name(proxy::resolved(ex, what.address, what.echo_port, what.resolver, nullptr)),
          tls(what.tls ? net::tls_client::make(*what.tls, what.address.host) : nullptr),
          wait(ex)
    {}

    double chance() { return std::uniform_real_distribution<double>{0, 1}(random); }

    net::task<finding> check();
    template <class Stream>
    net::task<finding> ask_over(Stream& s);
    void settle(const finding& found);

    // Checks the server until it is abandoned. The coroutine owns a share, so that an abandoned
    // server lives until its check has ended.
    static net::task<> keep_checking(std::shared_ptr<checked_server> s);
};

// Asks in the protocol of the upstream.
template <class Stream>
net::task<finding> health_checks::checked_server::ask_over(Stream& s)
{
    if (what.protocol == proxy::upstream_protocol::http1) {
        return ask(s, request, what.options);
    }
    return ask_streams(s, what, text_of(request));
}

// Makes one check. Its deadline covers the whole check: nothing that happens on the way moves it.
net::task<finding> health_checks::checked_server::check()
{
    control_stream s(wait.get_executor());
    s.expires_after(what.options.timeout);
    finding found = co_await connect(s, name);
    if (!found || !found->empty()) {
        co_return found;
    }
    if (what.proxy_protocol == proxy::header_version::v2) {
        // The connection is the gateway's own, and for no client.
        const std::string header = base::proxy_header_of({});
        if (const beast::error_code ec = co_await write(s, std::string_view(header))) {
            co_return finding_of(ec);
        }
    }
    if (tls == nullptr) {
        co_return co_await ask_over(s);
    }
    control_tls coded(s, *tls);
    if (const beast::error_code ec = co_await coded.shake_hands()) {
        const std::string complaint = coded.complaint();
        co_return complaint.empty() ? finding_of(ec) : complaint;
    }
    if (what.protocol == proxy::upstream_protocol::http2 && coded.protocol() != "h2") {
        co_return "TLS: it does not choose HTTP/2 (h2) by ALPN";
    }
    co_return co_await ask_over(coded);
}

void health_checks::checked_server::settle(const finding& found)
{
    if (!found) {
        return;
    }
    const bool well = found->empty();
    ++(well ? good : failed);
    if (!state.checked(well)) {
        return;
    }
    what.report(well);
    const std::string who = "upstream " + what.upstream + ": " + what.name;
    well ? telemetry::log(telemetry::log_level::info, who + " is healthy again")
         : telemetry::log(telemetry::log_level::warning, who + " is unhealthy, " + *found);
}

net::task<> health_checks::checked_server::keep_checking(std::shared_ptr<checked_server> s)
{
    const base::duration interval = s->what.options.interval;
    co_await net::pause(s->wait, proxy::health_state::first_pause(interval, s->chance()));
    while (!s->abandoned) {
        if (s->name.known()) {
            const finding found = co_await s->check();
            if (s->abandoned) {
                break;
            }
            s->settle(found);
        }
        co_await net::pause(s->wait, proxy::health_state::pause(interval, s->chance()));
    }
}

health_checks::health_checks(asio::io_context& context, std::string user_agent)
    : context_(context), user_agent_(std::move(user_agent))
{}

health_checks::~health_checks()
{
    watch({});
}

void health_checks::watch(std::vector<target> servers)
{
    const auto before = std::exchange(servers_, {});
    for (target& t : servers) {
        const auto same = [&t](const auto& s) {
            return s->what.upstream == t.upstream && s->what.name == t.name;
        };
        const auto known = std::find_if(before.begin(), before.end(), same);
        if (known != before.end() && (*known)->what.options == t.options &&
            (*known)->what.resolver == t.resolver && (*known)->what.protocol == t.protocol &&
            (*known)->what.proxy_protocol == t.proxy_protocol && (*known)->what.tls == t.tls) {
            (*known)->what.report = std::move(t.report);
            servers_.push_back(*known);
            continue;
        }
        const bool healthy = known == before.end() || (*known)->state.healthy();
        auto fresh = std::make_shared<checked_server>(
            context_.get_executor(), std::move(t), user_agent_, healthy
        );
        if (known != before.end()) {
            fresh->good = (*known)->good;
            fresh->failed = (*known)->failed;
        }
        fresh->what.report(healthy);
        servers_.push_back(fresh);
        asio::co_spawn(
            context_.get_executor(),
            checked_server::keep_checking(fresh),
            net::reported("the health checks of " + fresh->what.name)
        );
    }
    for (const auto& s : before) {
        if (std::find(servers_.begin(), servers_.end(), s) == servers_.end()) {
            s->abandoned = true;
            s->wait.cancel();
            s->name.stop();
        }
    }
}

std::vector<telemetry::server_health> health_checks::results() const
{
    std::vector<telemetry::server_health> all;
    for (const auto& s : servers_) {
        all.push_back({s->what.upstream, s->what.name, s->state.healthy(), s->good, s->failed});
    }
    return all;
}

}  // namespace gateway::probes
