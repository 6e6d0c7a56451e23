// `dialogue` is a connection for a few commands, whose replies a coroutine awaits. Everything but
// the workers' questions goes over one of these, away from the links.
// Thread: its executor's.
// Ownership: whoever awaits one of its coroutines keeps it alive.
#pragma once

#include "gateway/net/alarm.hpp"
#include "gateway/net/task.hpp"
#include "gateway/net/tls/tls_client.hpp"
#include "gateway/store/redis/protocol/reply.hpp"
#include "gateway/store/redis/protocol/tree.hpp"
#include "gateway/store/store.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gateway::store::redis {

class dialogue {
public:
    explicit dialogue(const net::executor& executor);
    dialogue(const dialogue&) = delete;
    dialogue& operator=(const dialogue&) = delete;

    // Uses this socket from now on, with `tls` if that is not null.
    void begin(net::stream_socket connected, std::unique_ptr<net::tls_engine> tls = nullptr);

    net::task<std::optional<failure>> send(const std::string& commands, base::duration limit);

    // Reads the next reply to what was sent. After a timeout it may be read later.
    net::task<std::optional<failure>> read(reply& into, base::duration limit);

    // Does the same for a reply of any shape.
    // Requires: nothing is left of earlier replies.
    net::task<std::optional<failure>> read(tree& into, base::duration limit);

    // Describes why there was no reply.
    std::string describe(failure why) const;

    // Closes the connection and ends all waiting.
    void close();

private:
    static constexpr std::size_t read_bytes = 4096;

    net::stream_socket socket_;
    std::unique_ptr<net::tls_engine> tls_;
    // Buffer for decoded text.
    std::vector<char> decoded_;
    reply_reader reader_;
    net::alarm too_long_;
    // True if the present wait took too long.
    bool expired_ = false;

    void limit_wait(base::duration limit);

    failure why_ended() const { return expired_ ? failure::timeout : failure::unreachable; }

    std::string encoded(const std::string& commands);
    net::task<std::optional<failure>> send_bytes(std::string bytes);
    net::task<std::optional<failure>> receive(std::string& words);
};

}  // namespace gateway::store::redis
