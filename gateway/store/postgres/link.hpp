// `link` is a connection to a PostgreSQL server. Each call is one of the schema's functions, sent
// as a statement in a pipeline; replies come in the same order. Time is the server's.
#pragma once

#include "gateway/base/ring.hpp"
#include "gateway/net/loop.hpp"
#include "gateway/store/postgres/link_group.hpp"
#include "gateway/store/postgres/options.hpp"
#include "gateway/store/postgres/session.hpp"
#include "gateway/store/postgres/statement.hpp"
#include "gateway/store/remote/link.hpp"
#include "gateway/telemetry/metrics.hpp"

#include <memory>
#include <optional>
#include <vector>

namespace gateway::store::postgres {

class link final : public store::link {
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

    void retire() override { group_->retire(); }

private:
    // `sent_statement` is a call or probe that is under way.
    struct sent_statement {
        std::int64_t number = 0;
        // Kept in case it must be sent again because others were in its way.
        statement words{};
        base::instant sent{};
        int tries = 0;
        // Numbers of the server's reply.
        std::optional<std::vector<std::int64_t>> numbers{};
        std::optional<trouble> why{};
    };

    static constexpr std::size_t max_statements = conversation_state::max_calls + 1;
    // Most attempts at a call that conflicts with others, if the database makes them repeat it.
    static constexpr int most_tries = 4;

    postgres_options options_;
    std::shared_ptr<link_group> group_;
    session session_;
    // Statements under way, oldest first.
    base::ring<sent_statement> statements_;
    // Statements that wait to be sent again.
    std::vector<sent_statement> repeated_;
    net::timer repeat_timer_;
    bool writing_ = false;
    // Number that changes with the connection.
    std::uint64_t era_ = 0;

    // Functions of conversation_port.
    void send(const call& c) override;
    void send_probe(std::int64_t number) override;
    void report(std::optional<failure> why) override;
    void found_corrupt(std::span<const pending_question> asked) override;

    std::shared_ptr<link> self() const
    {
        return std::static_pointer_cast<link>(store::link::self());
    }

    // link.cpp: statements and their results.
    statement_form form() const;
    void send_statement(sent_statement s);
    void flush();
    void watch();
    void receive() override;
    bool read_results();
    static void note(sent_statement& s, const PGresult& r);
    trouble end_of_connection();
    bool settle(sent_statement s);
    bool repeats(sent_statement& s);

    // link_recovery.cpp: loss and return.
    net::task<> connect() override;
    void disconnect() override;

    void cancel() override { session_.cancel(); }

    net::task<std::optional<trouble>> open();
    void lose(const trouble& why);
};

}  // namespace gateway::store::postgres
