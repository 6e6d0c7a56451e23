// Brings up one connection to a Redis server: finds its address, connects, greets. Every stage is
// bounded, so that an attempt never outlasts the second in which a store's return must be noticed.
//
// On the worker's thread. Held by shared_ptr, as its timers and look-ups may end after cancel().
#pragma once

#include "gateway/net/task.hpp"
#include "gateway/store/link_state.hpp"
#include "gateway/store/redis/greeting.hpp"
#include "gateway/store/redis/options.hpp"

#include <boost/asio/ip/basic_resolver.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gateway::store::redis {

class connector {
public:
    static std::shared_ptr<connector> make(
        const net::executor& executor, const redis_options& options
    );

    connector(const net::executor& executor, const redis_options& options);
    connector(const connector&) = delete;
    connector& operator=(const connector&) = delete;

    // One attempt, reported to `state` up to `connected`. Nothing: take_socket() is ready to be
    // asked.
    net::task<std::optional<failure>> establish(link_state& state);

    net::stream_socket take_socket() { return std::move(socket_); }

    const std::string& script_sha() const { return sha_; }

    // The server's address as text, for logs.
    std::string address() const;

    // What the resolver, the system or the server said when the last attempt failed; may be empty.
    const std::string& detail() const { return detail_; }

    // Ends the present attempt, and allows no other.
    void cancel();

private:
    using endpoint = boost::asio::generic::stream_protocol::endpoint;
    using resolver = boost::asio::ip::basic_resolver<boost::asio::ip::tcp, net::executor>;

    std::weak_ptr<connector> self_;
    net::executor executor_;
    redis_options options_;
    base::duration stage_limit_;
    // Whether the host is a name, which has to be looked up each time.
    bool is_name_ = false;
    // The endpoints of the last good look-up.
    std::vector<endpoint> endpoints_;
    // Which of them to try first, modulo their number.
    std::size_t preferred_ = 0;

    resolver resolver_;
    net::timer lookup_wait_;
    net::timer stage_timer_;
    net::stream_socket socket_;
    std::string sha_;
    std::string detail_;
    // The error of the last look-up that ended.
    std::string lookup_error_;
    // The number of the stage, which tells an old stage's timer from the present one's.
    std::uint64_t stage_ = 0;

    bool looking_up_ = false;
    // Whether the present stage took too long.
    bool expired_ = false;

    bool cancelled_ = false;

    void start_lookup();
    void begin_stage();
    void end_stage();
    failure why_ended(failure otherwise) const;
    net::task<> find_endpoints();
    net::task<bool> connect();
    void note(const reply& refusal);
    net::task<std::optional<failure>> greet();
};

}  // namespace gateway::store::redis
