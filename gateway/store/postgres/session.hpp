// A connection to a PostgreSQL server that takes writes: finding one, and asking it one thing at a
// time. libpq says and understands the protocol, TLS included; waiting is ours, names are looked up
// by us, and nothing blocks.
//
// One thread: its executor's. Whoever waits for a coroutine of it keeps it alive.
#pragma once

#include "gateway/net/alarm.hpp"
#include "gateway/net/fresh_name.hpp"
#include "gateway/net/task.hpp"
#include "gateway/store/postgres/options.hpp"
#include "gateway/store/postgres/trouble.hpp"

#include <boost/asio/posix/basic_stream_descriptor.hpp>

#include <cstddef>
#include <deque>
#include <memory>
#include <postgresql/libpq-fe.h>
#include <string>
#include <vector>

namespace gateway::store::postgres {

// Why there are no rows, on a connection that was open.
trouble trouble_of(const PGresult& result);

class session {
public:
    using result = std::unique_ptr<PGresult, decltype(&PQclear)>;

    // `limit`: how long finding a server may take, and how long any answer.
    session(const net::executor& executor, const postgres_options& options, base::duration limit);

    ~session() { close(); }

    session(const session&) = delete;
    session& operator=(const session&) = delete;

    // Tries the servers, beginning with the one that was good last, until one takes writes. False:
    // see last_trouble().
    net::task<bool> open();

    // One statement, or several without parameters; the rows of the last. Null: see last_trouble().
    net::task<result> ask(const std::string& sql, const std::vector<std::string>& parameters = {});

    const trouble& last_trouble() const { return trouble_; }

    // Null: not open. What is done with it must not block.
    PGconn* connection() { return connection_.get(); }

    using descriptor = boost::asio::posix::basic_stream_descriptor<net::executor>;

    // The open connection's socket, to wait for.
    descriptor& socket() { return descriptor_; }

    // For good: what is waited for ends, and nothing is opened any more.
    void cancel();

    // Behind a pooler, which shares the server's sessions among many: what ours is told at its
    // beginning the server does not hear, and must be told with each call.
    bool is_pooled() const { return is_pooled_; }

    // From the next open() on.
    void treat_as_pooled() { is_pooled_ = true; }

    // The present connection, if there is one.
    void close();

    // Of the server that was tried last, for logs.
    std::string address() const;

private:
    using connection_ptr = std::unique_ptr<PGconn, decltype(&PQfinish)>;

    net::executor executor_;
    postgres_options options_;
    base::duration limit_;
    // Of its servers.
    std::deque<net::fresh_name> names_;
    std::size_t server_ = 0;
    connection_ptr connection_{nullptr, &PQfinish};
    descriptor descriptor_;
    net::alarm too_long_;
    // Whether what is waited for took too long.
    bool expired_ = false;
    bool cancelled_ = false;
    bool is_pooled_ = false;
    trouble trouble_;

    // session_open.cpp: how it begins.
    net::task<bool> open_one(std::size_t server, const net::resolved_name::endpoint& at);
    bool begin(std::size_t server, const net::resolved_name::endpoint& at);
    net::task<bool> check_settings();
    bool take_socket();
    void let_go_of_socket();

    net::task<bool> wait(descriptor::wait_type what);
    void begin_limit();
    void fail(failure why);
    void note_loss();
};

}  // namespace gateway::store::postgres
