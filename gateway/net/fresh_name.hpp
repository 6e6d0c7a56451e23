// A server's name that is looked up anew for each attempt to connect. Where the answer takes long,
// the addresses of an older one are tried. One thread: its executor's.
#pragma once

#include "gateway/net/resolved_name.hpp"
#include "gateway/net/task.hpp"

#include <span>
#include <string>

namespace gateway::net {

class fresh_name {
public:
    // How long an answer is awaited when addresses of an older one are at hand.
    static constexpr base::duration patience = std::chrono::milliseconds{100};

    // `limit`: how long the first answer is awaited.
    fresh_name(const executor& ex, const server_address& of, base::duration limit);
    fresh_name(const fresh_name&) = delete;
    fresh_name& operator=(const fresh_name&) = delete;

    task<> look_up();

    // Ends a look-up, and allows no other.
    void stop();

    // None: error() says why, unless nobody has answered yet.
    std::span<const resolved_name::endpoint> endpoints() const { return name_.endpoints(); }

    const std::string& error() const { return name_.error(); }

private:
    timer wait_;
    resolved_name name_;
    base::duration limit_;
    bool stopped_ = false;
};

}  // namespace gateway::net
