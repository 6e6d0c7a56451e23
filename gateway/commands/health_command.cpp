#include "gateway/commands/health_command.hpp"

#include "config/urls/address.hpp"
#include "gateway/commands/cli.hpp"
#include "gateway/probes/control_http.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <string>

namespace gateway {

namespace {

namespace asio = boost::asio;
namespace http_of_beast = boost::beast::http;

constexpr base::duration health_check_bound = std::chrono::seconds{2};

// Sets `complaint` to what is wrong; leaves it empty if the answer is 200.
net::task<> request_health(
    const net::listen_address& admin, std::string path, std::string& complaint
)
{
    probes::control_request request(http_of_beast::verb::get, path, 11);
    request.set(http_of_beast::field::host, "localhost");
    request.set(http_of_beast::field::connection, "close");
    probes::control_stream s(co_await asio::this_coro::executor);
    s.expires_after(health_check_bound);
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
        complaint = ec.message();
    } else if (parser.get().result_int() != 200) {
        complaint = path + " answered " + std::to_string(parser.get().result_int());
    }
}

}  // namespace

int ask_health(const net::listen_address& admin, bool ready, std::ostream& err)
{
    asio::io_context context{1};
    std::string complaint;
    asio::co_spawn(
        context.get_executor(),
        request_health(admin, ready ? "/readyz" : "/healthz", complaint),
        asio::detached
    );
    context.run();
    if (!complaint.empty()) {
        err << "the admin API on " << config::to_text(admin) << ": " << complaint << '\n';
        return cli::failed_while_running;
    }
    return cli::done;
}

}  // namespace gateway
