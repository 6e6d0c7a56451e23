// `session` is a connection to a PostgreSQL server that takes writes. It finds such a server, and
// asks it one thing at a time. libpq speaks the protocol, TLS included. Waiting and looking up
// names are done here, and nothing blocks.
// Thread: its executor's.
// Ownership: whoever awaits one of its coroutines keeps it alive.
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

// Returns why a result has no rows, on a connection that was open.
trouble trouble_of(const PGresult& result);

class session {
public:
    using result = std::unique_ptr<PGresult, decltype(&PQclear)>;

    // `limit` bounds each look-up of a server, each attempt to connect to it, and each answer.
    session(const net::executor& executor, const postgres_options& options, base::duration limit);

    ~session() { close(); }

    session(const session&) = delete;
    session& operator=(const session&) = delete;

    // Tries the servers, beginning with the one that was good last, until one takes writes. Returns
    // false if none does; see last_trouble().
    net::task<bool> open();

    // Runs one statement, or several without parameters. Returns the rows of the last one, or null;
    // see last_trouble().
    net::task<result> ask(const std::string& sql, const std::vector<std::string>& parameters = {});

    const trouble& last_trouble() const { return trouble_; }

    // Returns the connection, or null if none is open.
    // Requires: it is not used in a way that blocks.
    PGconn* connection() { return connection_.get(); }

    using descriptor = boost::asio::posix::basic_stream_descriptor<net::executor>;

    // Socket of the open connection, to wait for.
    descriptor& socket() { return descriptor_; }

    // Ends all waiting for good. Nothing is opened any more.
    void cancel();

    // True behind a pooler, which shares the server's sessions among many clients. The settings
    // that are sent when a session begins do not reach the server then, and must be sent with each
    // call.
    bool is_pooled() const { return is_pooled_; }

    // Treats the server as pooled from the next open() on.
    void treat_as_pooled() { is_pooled_ = true; }

    // Closes the present connection, if there is one.
    void close();

    // Returns the address of the server that was tried last, for logs.
    std::string address() const;

private:
    using connection_ptr = std::unique_ptr<PGconn, decltype(&PQfinish)>;

    net::executor executor_;
    postgres_options options_;
    base::duration limit_;
    // Names of the servers.
    std::deque<net::fresh_name> names_;
    std::size_t server_ = 0;
    connection_ptr connection_{nullptr, &PQfinish};
    descriptor descriptor_;
    net::alarm too_long_;
    // True if the present wait took too long.
    bool expired_ = false;
    bool cancelled_ = false;
    bool is_pooled_ = false;
    trouble trouble_;

    // session_open.cpp: opening.
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
