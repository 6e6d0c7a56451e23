// The upstream that all proxies forward to: answers every GET with the same 200, in one send where
// it fits, but /large, which is for attackers, with 256 KiB; a POST waits for ever. Lives in the
// load generator's loop, as the cheapest upstream there can be.
#pragma once

#include "socket.hpp"
#include "wire.hpp"
#include <memory>
#include <string>
#include <vector>

namespace bench {

class upstream final : public watcher {
public:
    // A body of 0 bytes: a short JSON document. `tls` may be null.
    upstream(loop& in, std::uint16_t port, std::size_t body_size, tls_settings tls);
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
    const std::string large_;
    std::vector<std::unique_ptr<connection>> connections_;  // kept until the end
};

}  // namespace bench
