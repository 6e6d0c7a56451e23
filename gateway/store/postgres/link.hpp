// One worker's connection to a PostgreSQL server: what the conversation says, as calls of our
// functions that travel in a pipeline. Replies come in the order of calls.
//
// On the worker's thread. Held by shared_ptr, as what it waits for may end after close().
#pragma once

#include "gateway/base/ring.hpp"
#include "gateway/net/loop.hpp"
#include "gateway/store/conversation_state.hpp"
#include "gateway/store/conversation_wakes.hpp"
#include "gateway/store/postgres/link_group.hpp"
#include "gateway/store/postgres/options.hpp"
#include "gateway/store/postgres/session.hpp"
#include "gateway/store/postgres/statement.hpp"
#include "gateway/telemetry/metrics.hpp"

#include <memory>
#include <optional>
#include <random>
#include <vector>

namespace gateway::store::postgres {

class link final : private conversation_port {
public:
    static std::shared_ptr<link> start(
        net::loop& l,
        std::shared_ptr<link_group> group,
        const postgres_options& options,
        telemetry::store_metrics& metrics
    );

    link(
        net::loop& l,
        std::shared_ptr<link_group> group,
        const postgres_options& options,
        telemetry::store_metrics& metrics
    );
    link(const link&) = delete;
    link& operator=(const link&) = delete;

    conversation_state& conversation() { return conversation_; }

    void close(conversation_state::pending_ones what);

private:
    // A call or probe on its way.
    struct sent_statement {
        std::int64_t number = 0;
        // In case it is to be sent again: others were in its way.
        statement words{};
        base::instant sent{};
        int tries = 0;
        // What the server said.
        std::optional<std::vector<std::int64_t>> told{};
        std::optional<trouble> why{};
    };

    static constexpr std::size_t max_statements = conversation_state::max_calls + 1;
    // Of a call that conflicts with others, where the database makes them repeat it.
    static constexpr int most_tries = 4;

    std::weak_ptr<link> self_;
    postgres_options options_;
    std::shared_ptr<link_group> group_;
    session session_;
    // Those under way, oldest first.
    base::ring<sent_statement> statements_;
    // Those that wait to be sent again.
    std::vector<sent_statement> repeated_;
    net::timer repeat_timer_;
    bool writing_ = false;
    conversation_wakes wakes_;
    // What run() waits for: the end of a rest, or of the connection.
    net::timer run_timer_;
    // Changes with the connection.
    std::uint64_t era_ = 0;

    std::minstd_rand random_;
    conversation_state conversation_;

    // What the conversation asks for.
    void send(const call& c) override;
    void send_probe(std::int64_t number) override;
    void hang_up() override;
    void wake_at(base::instant at) override;
    void wake_after_turn() override;
    void report(std::optional<failure> why) override;
    void found_corrupt(std::span<const pending_question> asked) override;

    // link.cpp: statements and their results.
    statement_form form() const;
    void say(sent_statement s);
    void flush();
    void watch();
    void receive();
    bool read_results();
    static void note(sent_statement& s, const PGresult& r);
    trouble end_of_connection();
    bool settle(sent_statement s);
    bool repeats(sent_statement& s);

    // link_recovery.cpp: loss and return.
    net::task<> run(std::shared_ptr<link> self);
    net::task<std::optional<trouble>> open();
    void lose(const trouble& why);
};

}  // namespace gateway::store::postgres
