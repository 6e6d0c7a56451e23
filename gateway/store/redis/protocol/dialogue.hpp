// A connection for few words, whose replies a coroutine waits for: what is not a question of a
// worker goes over one of these, away from the links.
//
// On the thread of its executor. Whoever waits for a coroutine of it keeps it alive.
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

    // Over this socket from now on. `tls`: of the connection; null: without TLS.
    void begin(net::stream_socket connected, std::unique_ptr<net::tls_engine> tls = nullptr);

    net::task<std::optional<failure>> send(const std::string& commands, base::duration limit);

    // The next reply to what was sent. After a timeout it may be read later.
    net::task<std::optional<failure>> read(reply& into, base::duration limit);

    // The same for a reply of any shape, when nothing is left of those before.
    net::task<std::optional<failure>> read(tree& into, base::duration limit);

    // Describes why there was no reply.
    std::string describe(failure why) const;

    // Ends what is waited for, too.
    void close();

private:
    static constexpr std::size_t read_bytes = 4096;

    net::stream_socket socket_;
    std::unique_ptr<net::tls_engine> tls_;
    // Where it puts text that has come.
    std::vector<char> decoded_;
    reply_reader reader_;
    net::alarm too_long_;
    // Whether the present wait took too long.
    bool expired_ = false;

    void limit_wait(base::duration limit);

    failure why_ended() const { return expired_ ? failure::timeout : failure::unreachable; }

    std::string encoded(const std::string& commands);
    net::task<std::optional<failure>> send_bytes(std::string bytes);
    net::task<std::optional<failure>> receive(std::string& words);
};

}  // namespace gateway::store::redis
