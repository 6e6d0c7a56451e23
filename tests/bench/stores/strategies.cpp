#include "tests/bench/stores/strategies.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <stdexcept>

namespace gateway::bench {

namespace {

constexpr const char* take_script = R"(
local rate, burst = tonumber(ARGV[1]), tonumber(ARGV[2])
local t = redis.call('TIME')
local now = tonumber(t[1]) + tonumber(t[2]) / 1000000
local kept = redis.call('HMGET', KEYS[1], 'tokens', 'at')
local tokens = math.min(burst, (tonumber(kept[1]) or burst) + (now - (tonumber(kept[2]) or now)) * rate)
local allowed = tokens >= 1
if allowed then tokens = tokens - 1 end
redis.call('HSET', KEYS[1], 'tokens', tokens, 'at', now)
redis.call('EXPIRE', KEYS[1], math.ceil(burst / rate) + 1)
return allowed and 1 or 0
)";

double now()
{
    const auto since = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration<double>(since).count();
}

double number(const redisReply& r, std::size_t field, double otherwise)
{
    const redisReply& value = *r.element[field];
    return value.str == nullptr ? otherwise : std::strtod(value.str, nullptr);
}

// What is in the bucket now.
double filled(const redisReply& kept, double at, const tokens& limit)
{
    const double since = at - number(kept, 1, at);
    return std::min(limit.burst, number(kept, 0, limit.burst) + since * limit.per_second);
}

}  // namespace

redis_client::redis_client(int port) : context_(redisConnect("127.0.0.1", port))
{
    if (context_ == nullptr || context_->err != 0) {
        throw std::runtime_error("cannot connect to Redis");
    }
}

redis_client::reply redis_client::checked(void* answer)
{
    reply r{static_cast<redisReply*>(answer)};
    if (r == nullptr || r->type == REDIS_REPLY_ERROR) {
        throw std::runtime_error(r == nullptr ? context_->errstr : r->str);
    }
    return r;
}

const std::string& redis_client::script(std::string_view text)
{
    if (digest_.empty()) {
        digest_ = command("SCRIPT LOAD %b", text.data(), text.size())->str;
    }
    return digest_;
}

bool by_script(redis_client& on, const std::string& key, const tokens& limit)
{
    const std::string& digest = on.script(take_script);
    const auto said = on.command(
        "EVALSHA %s 1 %s %f %f", digest.c_str(), key.c_str(), limit.per_second, limit.burst
    );
    return said->integer == 1;
}

bool by_commands(redis_client& on, const std::string& key, const tokens& limit)
{
    const auto kept = on.command("HMGET %s tokens at", key.c_str());
    const double at = now();
    const double there = filled(*kept, at, limit);
    const bool allowed = there >= 1;
    on.command("HSET %s tokens %.9f at %.6f", key.c_str(), there - (allowed ? 1 : 0), at);
    return allowed;
}

bool by_watch(redis_client& on, const std::string& key, const tokens& limit)
{
    for (;;) {
        on.command("WATCH %s", key.c_str());
        const auto kept = on.command("HMGET %s tokens at", key.c_str());
        const double at = now();
        const double there = filled(*kept, at, limit);
        const bool allowed = there >= 1;
        on.command("MULTI");
        on.command("HSET %s tokens %.9f at %.6f", key.c_str(), there - (allowed ? 1 : 0), at);
        if (on.command("EXEC")->type != REDIS_REPLY_NIL) {
            return allowed;
        }
    }
}

}  // namespace gateway::bench
