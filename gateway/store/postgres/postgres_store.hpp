// A store kept in a PostgreSQL database: a function for each call, one round trip, server time.
//
// One per worker and server, on the worker's thread and loop only. Questions travel together over
// pipelined connections, the links, each with its own conversation: a question goes over the link
// that the name of its first bucket chooses, so that those about one bucket are told together. See
// conversation_state.
#pragma once

#include "gateway/net/loop.hpp"
#include "gateway/store/postgres/options.hpp"
#include "gateway/store/store.hpp"
#include "gateway/telemetry/metrics.hpp"

#include <memory>
#include <string>
#include <vector>

namespace gateway::store {

namespace postgres {
class link;
class link_group;
}  // namespace postgres

class postgres_store final : public shared_store {
public:
    // Starts connecting. `name` is what logs call it; `metrics` must outlive the loop.
    postgres_store(
        net::loop& l,
        const std::string& name,
        const postgres_options& options,
        telemetry::store_metrics& metrics
    );

    // Abandons the questions still pending, without calling them, and closes.
    ~postgres_store() override;
    postgres_store(const postgres_store&) = delete;
    postgres_store& operator=(const postgres_store&) = delete;

    bool recalls(std::span<const charge> charges, base::instant now, answer& into) const override;
    bool take_leased(std::span<const charge> charges, answer& into) override;
    bool settle_up() override;
    std::optional<failure> ask(std::span<const charge> charges, question& q) override;
    void close() override;
    void retire() override;
    bool healthy() const override;

private:
    std::shared_ptr<postgres::link_group> group_;
    std::vector<std::shared_ptr<postgres::link>> links_;

    postgres::link& link_for(std::span<const charge> charges) const;
};

}  // namespace gateway::store
