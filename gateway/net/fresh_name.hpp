// `fresh_name` is a server's name that is looked up anew for each attempt to connect. While a new
// answer takes long, the addresses of an older one serve.
// Thread: the one of its executor.
#pragma once

#include "gateway/net/resolved_name.hpp"
#include "gateway/net/task.hpp"

#include <span>
#include <string>

namespace gateway::net {

class fresh_name {
public:
    // Longest wait for an answer if the addresses of an older one are at hand.
    static constexpr base::duration patience = std::chrono::milliseconds{100};

    // `limit` is the longest wait for the first answer.
    fresh_name(const executor& ex, const server_address& of, base::duration limit);
    fresh_name(const fresh_name&) = delete;
    fresh_name& operator=(const fresh_name&) = delete;

    // Asks the resolver, and returns when it has answered or the wait for it is over.
    task<> look_up();

    // Ends a lookup, and allows no other.
    void stop();

    // Returns the known addresses. Without any, error() has the reason, unless no answer has come
    // yet.
    std::span<const resolved_name::endpoint> endpoints() const { return name_.endpoints(); }

    const std::string& error() const { return name_.error(); }

private:
    timer wait_;
    resolved_name name_;
    base::duration limit_;
    bool stopped_ = false;
};

}  // namespace gateway::net
