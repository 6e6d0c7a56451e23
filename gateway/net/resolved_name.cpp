#include "gateway/net/resolved_name.hpp"

#include "gateway/base/text.hpp"
#include "gateway/net/last_addresses.hpp"
#include "gateway/net/reported.hpp"
#include "gateway/net/task.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>

#include <tuple>
#include <vector>

namespace gateway::net {

namespace {

using resolver = boost::asio::ip::basic_resolver<boost::asio::ip::tcp, executor>;

}  // namespace

struct resolved_name::state {
    // The shared last answer; null for addresses and Unix sockets, which need no query.
    std::shared_ptr<last_addresses> last;
    resolver_options options;
    std::vector<endpoint> endpoints;
    bool known = false;
    bool abandoned = false;
    std::string error;
    // The wait for the next query; null for addresses and Unix sockets.
    std::unique_ptr<timer> wait;
    std::function<void()> answered;
};

namespace {

// True if the resolver's thread exists, which Asio makes for the first query of a loop. If none can
// be made, the query throws. The exception can be caught here; from a coroutine's await it would
// leave the loop.
bool has_thread(resolver& asking)
{
    try {
        asking.async_resolve(
            "127.0.0.1", "0", resolver::numeric_host | resolver::numeric_service, [](auto&&...) {}
        );
        return true;
    } catch (const boost::system::system_error&) {
        return false;
    }
}

std::vector<resolved_name::endpoint> addresses_in(
    const resolver::results_type& results, std::size_t max
)
{
    std::vector<resolved_name::endpoint> out;
    for (const auto& entry : results) {
        if (out.size() < max) {
            out.emplace_back(entry.endpoint());
        }
    }
    return out;
}

}  // namespace

resolved_name::resolved_name(std::shared_ptr<state> s) : state_(std::move(s)) {}

resolved_name::~resolved_name()
{
    if (state_ != nullptr) {
        stop();
    }
}

void resolved_name::stop()
{
    state_->abandoned = true;
    state_->answered = nullptr;
    if (state_->wait != nullptr) {
        state_->wait->cancel();
    }
}

resolved_name resolved_name::of_socket(const std::string& path)
{
    auto s = std::make_shared<state>();
    s->endpoints.emplace_back(boost::asio::local::stream_protocol::endpoint(path));
    s->known = true;
    return resolved_name(std::move(s));
}

resolved_name resolved_name::of_host(
    const executor& ex,
    const std::string& host,
    const std::string& port,
    const resolver_options& options,
    std::function<void()> answered
)
{
    auto s = std::make_shared<state>();
    const auto number = static_cast<unsigned short>(base::parse_decimal(port, 65535).value_or(0));
    boost::system::error_code ec;
    const auto address = boost::asio::ip::make_address(host, ec);
    if (!ec) {
        s->endpoints.emplace_back(boost::asio::ip::tcp::endpoint(address, number));
        s->known = true;
        return resolved_name(std::move(s));
    }
    s->options = options;
    s->wait = std::make_unique<timer>(ex);
    s->answered = std::move(answered);
    s->last = last_addresses::of(host);
    s->endpoints = s->last->at(number, options.max_addresses);
    s->known = !s->endpoints.empty();
    // The coroutine shares the state and not the resolved_name, which may be destroyed at any time.
    auto keep_resolved =
        [](std::shared_ptr<state> mine, executor own, std::string name, std::string service
        ) -> task<> {
        resolver asking(own);
        while (!mine->abandoned) {
            boost::system::error_code error = boost::asio::error::try_again;
            resolver::results_type results;
            if (has_thread(asking)) {
                std::tie(error, results) = co_await asking.async_resolve(name, service, use_task);
            }
            if (!error && !results.empty()) {
                mine->endpoints = addresses_in(results, mine->options.max_addresses);
                mine->last->set(mine->endpoints);
            }
            mine->known = true;
            mine->error = error ? error.message() : std::string{};
            if (mine->answered) {
                mine->answered();
            }
            if (mine->abandoned) {
                break;
            }
            co_await pause(*mine->wait, error ? mine->options.retry : mine->options.refresh);
        }
    };
    boost::asio::co_spawn(ex, keep_resolved(s, ex, host, port), reported("what resolves " + host));
    return resolved_name(std::move(s));
}

resolved_name resolved_name::of(
    const executor& ex,
    const server_address& address,
    const resolver_options& options,
    std::function<void()> answered
)
{
    return address.socket_path.empty()
               ? of_host(ex, address.host, address.port, options, std::move(answered))
               : of_socket(address.socket_path);
}

// Cuts the wait for the next query short. During a query there is no wait to cut short.
bool resolved_name::ask()
{
    if (state_->wait == nullptr) {
        return false;
    }
    state_->wait->cancel();
    return true;
}

const std::string& resolved_name::error() const
{
    return state_->error;
}

std::span<const resolved_name::endpoint> resolved_name::endpoints() const
{
    return state_->endpoints;
}

bool resolved_name::known() const
{
    return state_->known;
}

}  // namespace gateway::net
