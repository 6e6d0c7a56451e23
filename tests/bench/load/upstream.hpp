// The upstream that all proxies forward to: answers every GET with the same 200, in one send where
// it fits, but /large, which is for attackers, with 256 KiB; a POST waits for ever, but a message's
// for its end. As a language model, it answers with a stream of events instead, one at each turn of
// the loop. Lives in the load generator's loop, as the cheapest upstream there can be.
#pragma once

#include "socket.hpp"
#include "wire.hpp"
#include <memory>
#include <string>
#include <vector>

namespace bench {

struct upstream_options {
    std::uint16_t port = 0;
    std::size_t body = 0;    // bytes; 0: a short JSON document
    std::size_t events = 0;  // of a stream; 0: it answers with a body
    tls_settings tls;        // may be null
};

class upstream final : public watcher {
public:
    upstream(loop& in, const upstream_options& options);
    ~upstream();
    upstream(const upstream&) = delete;
    upstream& operator=(const upstream&) = delete;

    void ready() override;  // somebody connects

private:
    class connection;

    loop& loop_;
    int listener_;
    tls_settings tls_;
    const std::string response_;
    const std::size_t piece_;  // the most bytes of it that are sent at a turn
    const std::string large_;
    std::vector<std::unique_ptr<connection>> connections_;  // kept until the end
};

}  // namespace bench
