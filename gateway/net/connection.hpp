// One connected socket of a worker, driven by readiness: wait, then receive or send directly.
// Measured on loopback (docs/benchmarks.md): this costs half of what composed asynchronous reads
// and writes do, and an idle connection owns no buffer.
//
// Derive from it. Every callback comes from the loop, never from inside a call made on this object.
// Life: close() ends it; released() comes once nothing is pending, and only then may it be destroyed.
#pragma once

#include "gateway/net/loop.hpp"

#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/generic/stream_protocol.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace gateway::net {

using stream_socket = boost::asio::basic_stream_socket<boost::asio::generic::stream_protocol, executor>;

enum class received { data, nothing, closed };  // closed: orderly or not
enum class sent { all, some, broken };

class connection {
public:
    connection(loop& l, stream_socket socket) : loop_(l), socket_(std::move(socket)) {}

    connection(const connection&) = delete;
    connection& operator=(const connection&) = delete;
    virtual ~connection() = default;

    // readable() will be called once, when there is something to receive, an end or an error.
    void want_read();

    // Into the loop's read buffer; `bytes` is what came. May come up short of what is there.
    received receive(std::span<char>& bytes);

    // Takes all of `a` then `b`. What the socket does not take is kept, and drained() comes when it
    // has gone; until then do not send more than you are ready to have kept.
    sent send(std::string_view a, std::string_view b = {});

    bool sending() const { return unsent_at_ < unsent_.size(); }

    void finish_sending();  // what was sent arrives, then the peer sees the end
    void close();
    void reset();  // close, and let the peer know that something was cut off

    bool closed() const { return closed_; }

protected:
    virtual void readable() = 0;
    virtual void drained() = 0;
    virtual void broken() = 0;    // what was kept could not be sent
    virtual void released() = 0;  // closed, and nothing pending: may destroy *this

    loop& loop_;
    stream_socket socket_;

    void hold() { ++pending_; }  // something else pending refers to us

    void let_go();

private:
    int pending_ = 0;  // completions on their way that refer to us
    bool reading_ = false;
    bool closed_ = false;
    std::size_t unsent_at_ = 0;
    std::string unsent_;

    void wait_writable();
    void continue_sending();
};

}  // namespace gateway::net
