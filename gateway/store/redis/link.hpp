// One worker's connection to a Redis server: what the conversation says, in the server's words and
// over a socket that is kept up. Replies come in the order of commands.
//
// On the worker's thread. Held by shared_ptr, as what it waits for may end after close().
#pragma once

#include "gateway/base/ring.hpp"
#include "gateway/net/task.hpp"
#include "gateway/store/conversation_state.hpp"
#include "gateway/store/health_report.hpp"
#include "gateway/store/redis/command.hpp"
#include "gateway/store/redis/connector.hpp"
#include "gateway/store/redis/options.hpp"
#include "gateway/store/redis/reply.hpp"
#include "gateway/telemetry/metrics.hpp"

#include <array>
#include <memory>
#include <random>
#include <string>

namespace gateway::store::redis {

class link final : private conversation_port {
public:
    static std::shared_ptr<link> start(
        const net::executor& executor,
        std::string name,
        const redis_options& options,
        telemetry::store_metrics& metrics
    );

    link(
        const net::executor& executor,
        std::string name,
        const redis_options& options,
        telemetry::store_metrics& metrics
    );
    link(const link&) = delete;
    link& operator=(const link&) = delete;

    conversation_state& conversation() { return conversation_; }

    void close(conversation_state::pending_ones what);

    // Tells no more how the store is.
    void retire() { health_.retire(); }

private:
    struct sent_command {
        enum class kind : std::uint8_t { take, probe, load_script };

        kind what = kind::take;
        bool sent_again = false;
        // Of a take or probe; it comes back in the reply.
        std::int64_t number = 0;
        // In case the server has forgotten the script. The place keeps its memory.
        std::string bytes;
    };

    // Calls, a probe, and scripts for those that found none.
    static constexpr std::size_t max_commands = 2 * (conversation_state::max_calls + 1);

    std::weak_ptr<link> self_;
    net::executor executor_;
    redis_options options_;
    health_report health_;
    std::shared_ptr<connector> connector_;
    net::stream_socket socket_;
    // The number of the connection; completions of an older one are ignored.
    std::uint64_t generation_ = 0;

    base::ring<sent_command> commands_;
    reply_reader reader_;
    reply reply_;
    std::string outgoing_;
    // How many bytes of outgoing_ have been sent.
    std::size_t sent_ = 0;

    bool awaiting_writable_ = false;
    bool script_on_its_way_ = false;
    bool turn_end_posted_ = false;
    std::array<char, 16 * 1024> incoming_;
    net::timer wake_timer_;
    // The end of a rest in run().
    net::timer rest_timer_;

    std::minstd_rand random_;
    conversation_state conversation_;

    // What the conversation asks for.
    void send(const call& c) override;
    void send_probe(std::int64_t number) override;
    void hang_up() override;
    void wake_at(base::instant at) override;
    void wake_after_turn() override;
    void report(std::optional<failure> why) override;

    // link.cpp: commands and replies.
    sent_command& command(sent_command::kind what, std::int64_t number);
    void send_bytes(const std::string& bytes);
    void flush();
    void flush_when_writable();
    void read_later();
    bool receive();
    bool handle(const reply& r);
    bool handle_error(sent_command answered, std::string_view words);
    bool ask_again(sent_command& forgotten);

    // link_recovery.cpp: loss and return.
    net::task<> run(std::shared_ptr<link> self);
    void begin();
    void lose(failure why, std::string words);
};

}  // namespace gateway::store::redis
