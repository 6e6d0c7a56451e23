#include "gateway/store/redis/connector.hpp"

#include "gateway/base/text.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/write.hpp>

#include <algorithm>
#include <array>

namespace gateway::store::redis {

namespace asio = boost::asio;
using asio::ip::tcp;

namespace {

// Connecting and greeting get the store's timeout each, but within these: less would not survive a
// lost packet, more would make recovery take over a second.
constexpr base::duration least_stage = std::chrono::milliseconds{250};
constexpr base::duration most_stage = std::chrono::milliseconds{400};

// How long a fresh look-up is awaited when the addresses of an older one are at hand.
constexpr base::duration fresh_lookup = std::chrono::milliseconds{100};

}  // namespace

std::shared_ptr<connector> connector::make(
    const net::executor& executor, const redis_options& options
)
{
    auto made = std::make_shared<connector>(executor, options);
    made->self_ = made;
    return made;
}

connector::connector(const net::executor& executor, const redis_options& options)
    : executor_(executor),
      options_(options),
      stage_limit_(std::clamp(options.timeout, least_stage, most_stage)),
      resolver_(executor),
      lookup_wait_(executor),
      stage_timer_(executor),
      socket_(executor)
{
    if (!options.socket_path.empty()) {
        endpoints_.emplace_back(asio::local::stream_protocol::endpoint{options.socket_path});
        return;
    }
    boost::system::error_code ec;
    const auto address = asio::ip::make_address(options.host, ec);
    const auto port = base::parse_decimal(options.port, 65535);
    is_name_ = ec || !port;
    if (!is_name_) {
        endpoints_.emplace_back(tcp::endpoint{address, static_cast<std::uint16_t>(*port)});
    }
}

std::string connector::address() const
{
    return options_.socket_path.empty() ? options_.host + ":" + options_.port
                                        : options_.socket_path;
}

void connector::cancel()
{
    cancelled_ = true;
    end_stage();
    boost::system::error_code ignored;
    socket_.close(ignored);
    resolver_.cancel();
    lookup_wait_.cancel();
}

net::task<std::optional<failure>> connector::establish(link_state& state)
{
    detail_.clear();
    co_await find_endpoints();
    if (cancelled_ || endpoints_.empty()) {
        detail_ = lookup_error_;
        co_return failure::unreachable;
    }
    begin_stage();
    const bool connected = co_await connect();
    end_stage();
    if (!connected || cancelled_) {
        co_return why_ended(failure::unreachable);
    }
    state.connected();
    begin_stage();
    std::optional<failure> refused = co_await greet();
    end_stage();
    if (refused || expired_ || cancelled_) {
        boost::system::error_code ignored;
        socket_.close(ignored);
        co_return why_ended(refused.value_or(failure::unreachable));
    }
    co_return std::nullopt;
}

void connector::begin_stage()
{
    expired_ = false;
    stage_timer_.expires_after(stage_limit_);
    auto expire = [self = self_.lock(), stage = ++stage_](const boost::system::error_code& ec) {
        if (!ec && self->stage_ == stage) {
            self->expired_ = true;
            boost::system::error_code ignored;
            self->socket_.close(ignored);
        }
    };
    stage_timer_.async_wait(std::move(expire));
}

void connector::end_stage()
{
    ++stage_;
    stage_timer_.cancel();
}

failure connector::why_ended(failure otherwise) const
{
    return expired_ ? failure::timeout : otherwise;
}

void connector::start_lookup()
{
    looking_up_ = true;
    auto found = [self = self_.lock()](
                     const boost::system::error_code& ec, const tcp::resolver::results_type& results
                 ) {
        self->looking_up_ = false;
        if (!ec && !results.empty()) {
            self->endpoints_.clear();
            for (const auto& entry : results) {
                self->endpoints_.emplace_back(entry.endpoint());
            }
        }
        self->lookup_error_ = ec ? ec.message() : std::string{};
        self->lookup_wait_.cancel();
    };
    resolver_.async_resolve(options_.host, options_.port, std::move(found));
}

net::task<> connector::find_endpoints()
{
    if (!is_name_) {
        co_return;
    }
    if (!looking_up_) {
        start_lookup();
    }
    lookup_wait_.expires_after(endpoints_.empty() ? stage_limit_ : fresh_lookup);
    co_await lookup_wait_.async_wait(net::use_task);
}

net::task<bool> connector::connect()
{
    const std::vector<endpoint> candidates = endpoints_;  // a look-up may end meanwhile
    for (std::size_t i = 0; i < candidates.size() && !expired_ && !cancelled_; ++i) {
        const endpoint& to = candidates[(preferred_ + i) % candidates.size()];
        socket_ = net::stream_socket{executor_};
        const auto [failed] = co_await socket_.async_connect(to, net::use_task);
        if (!failed && !expired_) {
            preferred_ += i;
            boost::system::error_code ignored;
            socket_.set_option(tcp::no_delay{true}, ignored);  // a Unix socket knows no such option
            socket_.non_blocking(true, ignored);
            co_return true;
        }
        if (&to == &candidates.front() && !expired_) {  // of several always the same one's
            detail_ = failed.message();
        }
    }
    ++preferred_;  // an address that swallows connections does not do so at every attempt
    co_return false;
}

// Of what refuses us, an error's words.
void connector::note(const reply& refusal)
{
    if (refusal.what == reply::kind::error) {
        detail_ = quotable(refusal.text(), options_.password);
    }
}

net::task<std::optional<failure>> connector::greet()
{
    greeting words{options_};
    const auto [unsent, sent] =
        co_await asio::async_write(socket_, asio::buffer(words.bytes()), net::use_task);
    if (unsent || sent != words.bytes().size()) {
        co_return failure::unreachable;
    }
    reply_reader reader;
    reply said;
    std::array<char, 1024> bytes;
    while (!words.done()) {
        const auto [ended, count] =
            co_await socket_.async_read_some(asio::buffer(bytes), net::use_task);
        if (ended) {
            co_return failure::unreachable;
        }
        reader.feed(std::span{bytes}.first(count));
        auto next = reader.read(said);
        for (; next == reply_reader::next::reply && !words.done(); next = reader.read(said)) {
            if (const auto refused = words.accept(said)) {
                note(said);
                co_return refused;
            }
        }
        if (next == reply_reader::next::garbage || (words.done() && !reader.drained())) {
            co_return failure::protocol;
        }
    }
    sha_ = words.script_sha();
    co_return std::nullopt;
}

}  // namespace gateway::store::redis
