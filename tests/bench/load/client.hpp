// One client: sends one of the benchmark's requests, counts the bytes of the answer. One request at
// a time, all on one connection or each on its own.
#pragma once

#include "socket.hpp"
#include "wire.hpp"
#include <cstdint>
#include <string>
#include <string_view>

namespace bench {

class client;

enum class connection_use {
    keep,  // for all requests
    once,  // asks the peer to close; the answer counts when it has, so no ports wait on our side
};

// How clients speak to a proxy.
struct client_tls {
    tls_settings settings;  // null: without TLS
    bool returns = false;   // new connections go on with the session of the one before
    std::uint64_t shaken = 0;
    std::uint64_t resumed = 0;
};

// Told about answers; a status of 0 says that the connection broke or that more came than was
// announced.
class answer_listener {
public:
    virtual void answered(client& who, int status) = 0;

protected:
    ~answer_listener() = default;
};

class client final : public watcher {
public:
    // `sent`: bytes of the message that it posts; 0: it posts none.
    client(loop& in, std::uint16_t port, connection_use use, client_tls& tls, std::size_t sent);
    ~client();
    client(const client&) = delete;
    client& operator=(const client&) = delete;

    // `since` is the instant that latency counts from; `key` becomes the client's address.
    // Connects first where no connection is left.
    void request(std::uint64_t since, std::uint32_t key, answer_listener& listener);

    [[nodiscard]] std::uint64_t since() const { return since_; }

    void ready() override;

private:
    void dial();
    bool shake_hands();
    void say();
    void lose();
    void take(std::string_view bytes);
    void take_body(std::string_view bytes);
    void complete(int status);
    void finish(int status);

    loop& loop_;
    std::uint16_t port_;
    connection_use use_;
    client_tls& tls_;
    wire wire_;
    bool ready_ = false;   // hands are shaken
    bool unsaid_ = false;  // a request waits for that
    std::unique_ptr<SSL_SESSION, decltype(&SSL_SESSION_free)> session_{nullptr, SSL_SESSION_free};
    std::string request_;
    std::size_t address_at_;   // of the client's address, in the request
    std::string_view unsent_;  // of the request under way
    bool waits_ = false;       // to write
    std::string head_;         // of an answer, while incomplete
    std::size_t body_left_ = 0;
    bool chunked_ = false;  // the body has no length
    std::string tail_;      // of such a body
    int status_ = 0;        // of the answer being read; 0: still in its head
    int completed_ = 0;     // status of the answer whose connection is yet to be closed; 0: none
    std::uint64_t since_ = 0;
    answer_listener* listener_ = nullptr;  // null: no request under way
};

}  // namespace bench
