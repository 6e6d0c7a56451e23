// `link` is a connection to a Redis server, or to a node of a cluster. Each call is an atomic
// script, sent as commands whose replies come in the same order. Time is the server's.
#pragma once

#include "gateway/base/ring.hpp"
#include "gateway/net/connection.hpp"
#include "gateway/store/redis/cluster/call_parts.hpp"
#include "gateway/store/redis/cluster/cluster_port.hpp"
#include "gateway/store/redis/protocol/command.hpp"
#include "gateway/store/redis/protocol/greeting.hpp"
#include "gateway/store/redis/protocol/options.hpp"
#include "gateway/store/redis/protocol/reply.hpp"
#include "gateway/store/redis/protocol/sent_command.hpp"
#include "gateway/store/redis/protocol/server_tls.hpp"
#include "gateway/store/redis/sentinel/sentinel_watch.hpp"
#include "gateway/store/redis/server_connector.hpp"
#include "gateway/store/remote/corrupt_keys.hpp"
#include "gateway/store/remote/health_report.hpp"
#include "gateway/store/remote/link.hpp"
#include "gateway/telemetry/metrics.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gateway::store::redis {

class link final : public store::link {
public:
    // `cluster` is null for a server that is alone.
    // Ownership: `cluster` stays until close() or forget_cluster().
    static std::shared_ptr<link> start(
        net::loop& l,
        std::string name,
        const redis_options& options,
        telemetry::store_metrics& metrics,
        cluster_port* cluster = nullptr
    );

    link(
        net::loop& l,
        std::string name,
        const redis_options& options,
        telemetry::store_metrics& metrics,
        cluster_port* cluster
    );

    // Sends this node a part of a call to another one. Returns false if it cannot be asked now.
    bool carry(const sent_command& part);

    // True if nobody waits for it, nor for what it carries.
    bool idle() const { return conversation().idle() && commands_.empty(); }

    // Reports to the call of this part that nobody will answer it. Does nothing if it was answered.
    static void fail_part(const sent_command& part, failure why, taken tokens);

    // Forgets the cluster, which ends before this link.
    void forget_cluster() { cluster_ = nullptr; }

    void retire() override { health_.retire(); }

private:
    // Most commands under way: calls, a probe, and a load of the script for each that found none.
    static constexpr std::size_t max_commands = 2 * (conversation_state::max_calls + 1);
    // The same for calls in parts, and parts of other nodes' calls, each with ASKING.
    static constexpr std::size_t max_parts = conversation_state::max_calls * call::max_questions;
    static constexpr std::size_t max_carried = 2 * max_parts;
    static constexpr std::size_t max_commands_in_cluster = 2 * max_carried + 16;

    // `channel` is the connection to the server. It destroys itself some time after let_go().
    class channel final : public net::connection {
    public:
        channel(net::loop& l, net::socket connected, link& of);

        // Describes what is wrong with the server's TLS. Empty if nothing is.
        std::string complaint() const { return tls() == nullptr ? std::string{} : tls()->detail(); }

        void let_go()
        {
            link_ = nullptr;
            close();
        }

    private:
        link* link_;

        // Never called after close().
        void readable() override { link_->receive(); }

        void drained() override {}

        // The end is noticed by reading, as replies may have come before it.
        void broken() override { want_read(); }

        void released() override { delete this; }
    };

    net::loop& loop_;
    redis_options options_;
    cluster_port* cluster_;
    corrupt_keys corrupt_keys_;
    health_report health_;
    server_connector connector_;
    server_tls tls_;
    // Null if there are no sentinels.
    std::shared_ptr<sentinel_watch> watch_;
    // Null if there is no connection.
    channel* channel_ = nullptr;
    // Greeting in progress, until the server has accepted it.
    std::optional<greeting> greeting_;
    std::string script_sha_;

    base::ring<sent_command> commands_;
    // Parts of each call that is under way, if the server is a node of a cluster.
    std::vector<call_parts> parts_;
    reply_reader reader_;
    reply reply_;
    bool script_on_its_way_ = false;

    // Functions of conversation_port.
    void send(const call& c) override;
    void send_probe(std::int64_t number) override;
    void report(std::optional<failure> why) override;
    void found_corrupt(std::span<const pending_question> asked) override;

    // link.cpp: commands and replies.
    sent_command& command(sent_command::kind what, std::int64_t number);
    void receive() override;
    bool handle(const reply& r);
    bool handle_result(const reply& r);
    bool handle_error(sent_command answered, std::string_view words);
    bool ask_again(sent_command& forgotten);

    // link_parts.cpp: calls in parts.
    void send_parts(const call& c);
    void send_command(sent_command part);
    static bool handle_part(const sent_command& answered, const reply& r);
    void handle_part_error(sent_command answered, std::string_view words);
    void fail_carried();
    call_parts* parts_under(std::int64_t number);
    bool part_answered(std::int64_t number, std::size_t part, const reply& r);
    void part_failed(std::int64_t number, std::size_t part, failure why, taken tokens);
    void settle_if_complete(call_parts& parts);

    // link_recovery.cpp: loss and return.
    net::task<> connect() override;
    void disconnect() override;
    void cancel() override;
    void begin(net::socket connected);
    bool greet(const reply& r);
    void lose(failure why, std::string words);
    void master_is(const net::server_address& master);
};

}  // namespace gateway::store::redis
