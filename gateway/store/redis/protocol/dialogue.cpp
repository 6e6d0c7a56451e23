#include "gateway/store/redis/protocol/dialogue.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>

#include <array>
#include <utility>

namespace gateway::store::redis {

namespace asio = boost::asio;

dialogue::dialogue(const net::executor& executor)
    : socket_(executor), too_long_(executor, [this] {
          expired_ = true;
          boost::system::error_code ignored;
          socket_.cancel(ignored);
      })
{}

void dialogue::begin(net::stream_socket connected, std::unique_ptr<net::tls_engine> tls)
{
    socket_ = std::move(connected);
    boost::system::error_code ignored;
    // A Unix socket knows no such option.
    socket_.set_option(asio::ip::tcp::no_delay{true}, ignored);
    reader_.reset();
    tls_ = std::move(tls);
    decoded_.resize(tls_ == nullptr ? 0 : net::tls_engine::text_bytes(read_bytes));
}

void dialogue::close()
{
    too_long_.cancel();
    boost::system::error_code ignored;
    socket_.close(ignored);
}

std::string dialogue::describe(failure why) const
{
    if (why == failure::timeout) {
        return "silent";
    }
    const bool is_about_tls = tls_ != nullptr && tls_->failed();
    return is_about_tls ? tls_->detail() : "the connection broke";
}

net::task<std::optional<failure>> dialogue::send(const std::string& commands, base::duration limit)
{
    limit_wait(limit);
    std::string bytes = commands;
    if (tls_ != nullptr) {
        bytes = encoded(commands);
    }
    const auto why = co_await send_bytes(std::move(bytes));
    too_long_.cancel();
    co_return why;
}

// Encodes commands for TLS. The first ones of a connection also begin the handshake.
std::string dialogue::encoded(const std::string& commands)
{
    std::string coded;
    std::size_t none = 0;
    if (!tls_->send(commands, coded) ||
        tls_->receive({}, decoded_, none, coded) == net::tls_engine::result::failed) {
        coded.clear();  // receive() will report it
    }
    return coded;
}

net::task<std::optional<failure>> dialogue::send_bytes(std::string bytes)
{
    if (bytes.empty()) {
        co_return std::nullopt;  // TLS has nothing to send
    }
    const auto [unsent, sent] =
        co_await asio::async_write(socket_, asio::buffer(bytes), net::use_task);
    co_return unsent ? std::optional{why_ended()} : std::nullopt;
}

net::task<std::optional<failure>> dialogue::read(reply& into, base::duration limit)
{
    limit_wait(limit);
    std::optional<failure> why;
    std::string words;
    auto next = reader_.read(into);
    while (next == reply_reader::next::nothing && !why) {
        why = co_await receive(words);
        reader_.feed(words);
        next = reader_.read(into);
    }
    too_long_.cancel();
    if (next == reply_reader::next::garbage) {
        co_return failure::protocol;
    }
    co_return next == reply_reader::next::reply ? std::nullopt : why;
}

net::task<std::optional<failure>> dialogue::read(tree& into, base::duration limit)
{
    limit_wait(limit);
    std::optional<failure> why;
    std::string words;
    tree_reader reader;
    into = nullptr;
    while (into == nullptr && !reader.garbage() && !why) {
        why = co_await receive(words);
        reader.feed(words);
        into = reader.read();
    }
    too_long_.cancel();
    if (reader.garbage()) {
        co_return failure::protocol;
    }
    co_return into != nullptr ? std::nullopt : why;
}

// Receives the next bytes into `words`. Returns nothing, or why that failed.
net::task<std::optional<failure>> dialogue::receive(std::string& words)
{
    words.clear();
    if (expired_) {
        co_return failure::timeout;
    }
    std::array<char, read_bytes> bytes;
    const auto [ended, count] =
        co_await socket_.async_read_some(asio::buffer(bytes), net::use_task);
    if (ended) {
        co_return why_ended();
    }
    if (tls_ == nullptr) {
        words.assign(bytes.data(), count);
        co_return std::nullopt;
    }
    std::string output;
    std::size_t size = 0;
    const auto got = tls_->receive(std::span{bytes}.first(count), decoded_, size, output);
    if (got == net::tls_engine::result::failed) {
        co_return failure::config;
    }
    words.assign(decoded_.data(), size);
    co_return co_await send_bytes(std::move(output));
}

void dialogue::limit_wait(base::duration limit)
{
    expired_ = false;
    too_long_.set(limit);
}

}  // namespace gateway::store::redis
