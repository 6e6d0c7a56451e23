// `upstream_carrier` carries one request at a time to a server, and the response back: a connection
// of HTTP/1.1, or a stream of an HTTP/2 connection. Either takes and gives the text that HTTP/1.1
// would carry, so that responses have one reader.
#pragma once

#include "gateway/http/message.hpp"
#include "gateway/net/connection.hpp"
#include "gateway/net/resolved_name.hpp"
#include "gateway/proxy/answer_state.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace gateway::proxy {

// A server of the upstream, and the address at which it accepted.
struct server_endpoint {
    std::size_t server = 0;
    net::resolved_name::endpoint address;
};

// `lessee` has leased a carrier. All calls come from the loop.
class lessee {
public:
    virtual void upstream_readable() = 0;
    // Called when the unsent bytes have become more or fewer, but not none.
    virtual void upstream_backlog_changed() = 0;
    // Called when what waited has gone, or a part of it over HTTP/2.
    virtual void upstream_drained() = 0;
    // Called when nothing can be sent any more. There may still be bytes to read.
    virtual void upstream_broken() = 0;

protected:
    ~lessee() = default;
};

// The reason why a response breaks off.
enum class loss {
    // The connection has ended, or the server has reset the stream.
    ended,
    // The server has not begun with the request, and never will, so that it may be sent again
    // whatever it is.
    refused,
    // The response breaks the rules of its protocol.
    malformed,
    // The server breaks those of the connection, and all responses on it are lost.
    malformed_connection,
};

class upstream_carrier {
public:
    explicit upstream_carrier(const server_endpoint& to) : to_(to) {}

    virtual ~upstream_carrier() = default;

    // Sets who has leased it, or null while nobody has.
    void lease_to(lessee* user) { lessee_ = user; }

    std::size_t server() const { return to_.server; }

    const server_endpoint& to() const { return to_; }

    // True if its connection has served a request before this one, so that its loss may be no fault
    // of the server: it may have been idle for too long, or the server ends it in order.
    virtual bool reused() const = 0;

    // ---- The request.

    // Sends the head of a request, whose body has this framing. `at_once`: it does not wait for the
    // end of the loop's turn, nor does anything behind it.
    virtual void send_head(std::string_view text, const http::framing& body, bool at_once) = 0;
    // Sends content, without framing. `last`: nothing follows but the trailers, lines
    // "name: value\r\n".
    virtual void send_content(std::string_view content, bool last, std::string_view trailers) = 0;
    // Sends bytes through a tunnel.
    virtual void send_bytes(std::string_view bytes) = 0;
    // Ends the sending side.
    virtual void end_sending() = 0;
    // True if something that was sent still waits.
    virtual bool is_blocked() const = 0;

    // True if the server's end, after end_sending(), says that it is done with the request.
    virtual bool tells_of_its_end() const = 0;

    // ---- The response.

    // Has upstream_readable() called once, when there is something to receive, or an end.
    virtual void await_bytes() = 0;
    // Returns the length of the response's content if its head announces one and the text is in
    // chunks all the same, so that trailers may follow; otherwise nothing.
    virtual std::optional<std::uint64_t> announced_length() const = 0;

    // Receives text of the response, as net::connection::receive() does.
    virtual net::received receive_text(std::span<char>& text, std::size_t most = SIZE_MAX) = 0;
    // Returns why the response breaks off; `ended` if it does not.
    virtual loss why_lost() const = 0;
    // Returns what the log should say of its end; empty for nothing.
    virtual std::string_view complaint() const = 0;

    // Ends the lease. `is_current`: the server is still at that address.
    virtual void give_back(answer_port::disposition how, bool is_current) = 0;

protected:
    lessee* lessee_ = nullptr;

private:
    const server_endpoint to_;
};

}  // namespace gateway::proxy
