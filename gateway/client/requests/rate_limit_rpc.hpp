// `rate_limit_rpc` serves calls of envoy.service.ratelimit.v3.RateLimitService, whatever carries
// them: it takes the head and body of a call and gives the answer, and records each call as
// `request` does. It is reused for one call after another.
//
// A call's carrier writes `:status: 200`, `content-type: application/grpc`, the answer's body if
// there is one, and the trailers `grpc-status` and `grpc-message`.
// Thread: one thread only.
#pragma once

#include "gateway/client/requests/request_account.hpp"
#include "gateway/client/requests/request_host.hpp"
#include "gateway/client/session_environment.hpp"
#include "gateway/http/grpc/grpc.hpp"
#include "gateway/limits/descriptor_admitter.hpp"

#include <string>
#include <string_view>

namespace gateway::client {

// Target of the only method that the service has.
inline constexpr std::string_view rate_limit_method =
    "/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit";

struct grpc_answer {
    http::grpc_status status = http::grpc_status::ok;
    // Value of `grpc-message`: visible ASCII and spaces, without '%'.
    std::string_view detail{};
    // The message with its prefix, if the status is `ok`; otherwise empty.
    std::string_view body{};
};

// `rpc_carrier` is what a call came by.
class rpc_carrier {
public:
    // Called once for each call that is not abandoned, from inside a function of the rpc or later.
    // The texts of the answer are valid until this returns.
    virtual void rpc_answered(const grpc_answer& a) = 0;

protected:
    ~rpc_carrier() = default;
};

class rate_limit_rpc final : private limits::verdict_listener {
public:
    // Ownership: all arguments outlive this object.
    rate_limit_rpc(session_environment& env, rpc_carrier& carrier)
        : env_(env),
          carrier_(carrier),
          account_(env),
          admitter_(env.checks, env.loop.clock(), record_)
    {}

    // Begins a call to the service of that name. `host` hears when a verdict came late. Answers
    // at once if it is for another method, or not in gRPC.
    // Requires: the last call has been answered or abandoned. The policy in force has the service,
    // which no reload takes away from a listener.
    void begin(const http::request_head& head, request_host& host, std::string_view service);

    // Takes a part of the body; `last` comes with or after the last of it. Bytes that come after
    // the answer are ignored.
    void content(std::string_view bytes, bool last);

    // Gives the call up, as its client has left. Does nothing after the answer.
    void abandon();

    // True from begin() until the answer.
    bool is_open() const { return service_ != nullptr; }

private:
    session_environment& env_;
    rpc_carrier& carrier_;
    limits::request_record record_;
    request_account account_;
    limits::descriptor_admitter admitter_;
    // The service of the call, which the record's view has; null between calls.
    const policy::rate_limit_service* service_ = nullptr;
    // The connection of the call.
    request_host* host_ = nullptr;
    // The body so far, at most a prefix and envoy::max_request_bytes. It keeps its memory.
    std::string body_;
    std::string answer_;
    std::uint64_t body_bytes_ = 0;
    // True while the verdict is awaited.
    bool asked_ = false;

    void answer(const limits::descriptor_answer& a);
    void end(const limits::finished& f);

    // verdict_listener
    void decided(const limits::verdict& v) override;
};

}  // namespace gateway::client
