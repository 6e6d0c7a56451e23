// A token bucket in Redis as others keep it: a hash of two fields, the tokens and when they were
// counted, by one of three published ways. Each caller has a connection of its own, and waits.
#pragma once

#include <hiredis/hiredis.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace gateway::bench {

struct tokens {
    double per_second;
    double burst;
};

// One connection. Throws std::runtime_error where the server fails. One thread.
class redis_client {
public:
    explicit redis_client(int port);

    struct free_reply {
        void operator()(redisReply* r) const { freeReplyObject(r); }
    };

    using reply = std::unique_ptr<redisReply, free_reply>;

    template <typename... Arguments>
    reply command(const char* format, Arguments... arguments)
    {
        return checked(redisCommand(context_.get(), format, arguments...));
    }

    // Of strategies that keep one: the digest of their script here.
    const std::string& script(std::string_view text);

private:
    struct free_context {
        void operator()(redisContext* c) const { redisFree(c); }
    };

    std::unique_ptr<redisContext, free_context> context_;
    std::string digest_;

    reply checked(void* answer);
};

// Whether a token was taken from the bucket of that key.
using strategy = bool (*)(redis_client& on, const std::string& key, const tokens& limit);

// One script, one call; the server's clock.
bool by_script(redis_client& on, const std::string& key, const tokens& limit);

// HMGET, arithmetic here, HSET. Two who read before either writes take the same token.
bool by_commands(redis_client& on, const std::string& key, const tokens& limit);

// The same between WATCH and EXEC, again until nobody came between.
bool by_watch(redis_client& on, const std::string& key, const tokens& limit);

}  // namespace gateway::bench
