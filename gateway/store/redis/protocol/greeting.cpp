#include "gateway/store/redis/protocol/greeting.hpp"

#include "gateway/store/redis/protocol/command.hpp"
#include "gateway/store/redis/protocol/complaint.hpp"

#include <array>
#include <string_view>

namespace gateway::store::redis {

namespace {

constexpr std::size_t sha_digits = 40;

}  // namespace

greeting::greeting(const redis_options& options)
{
    if (!options.password.empty()) {
        steps_.push_back(step::authenticate);
        encode_login(bytes_, options);
    }
    if (options.database != 0) {
        steps_.push_back(step::select);
        encode(bytes_, std::array<std::string_view, 2>{"SELECT", std::to_string(options.database)});
    }
    if (options.sentinel) {
        steps_.push_back(step::role);
        encode(bytes_, std::array<std::string_view, 1>{"ROLE"});
    }
    if (steps_.empty()) {
        // A server that wants a password says so in reply to a small command only. It takes one
        // above 16 KiB for a protocol error.
        steps_.push_back(step::ping);
        encode(bytes_, std::array<std::string_view, 1>{"PING"});
    }
    steps_.push_back(step::load_script);
    encode_script_load(bytes_);
}

std::optional<failure> greeting::accept(const reply& r)
{
    const step s = steps_[answered_++];
    if (r.what == reply::kind::error) {
        return s == step::authenticate ? classify_login(r.text()) : classify(r.text()).why;
    }
    if (s == step::role) {
        return r.word(0) == "master" ? std::nullopt : std::optional{failure::readonly};
    }
    if (s != step::load_script) {
        return r.what == reply::kind::status ? std::nullopt : std::optional{failure::protocol};
    }
    if (r.what != reply::kind::text || r.count != sha_digits) {
        return failure::protocol;
    }
    sha_ = r.text();
    return std::nullopt;
}

void encode_script_load(std::string& out)
{
    encode(out, std::array<std::string_view, 3>{"SCRIPT", "LOAD", take_script});
}

}  // namespace gateway::store::redis
