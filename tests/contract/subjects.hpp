// The stores under test, each behind one blocking take().
#pragma once

#include "gateway/store/kinds.hpp"
#include "gateway/store/memory/memory_store.hpp"
#include "gateway/store/postgres/schema.hpp"
#include "tests/contract/postgres_server.hpp"
#include "tests/contract/redis_server.hpp"
#include "tests/unit/net/loop_end.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>

namespace gateway::store::testing {

// Runs the loop until `done`, at most until a timer of the same loop that is set now. True if it is
// done. Where the machine stops for a moment the timer is as late as all else in the loop, and
// timers end in their order: so a bound here is one on what the code does.
inline bool run_until(
    boost::asio::io_context& io,
    const std::function<bool()>& done,
    base::duration at_most = std::chrono::seconds{20}
)
{
    boost::asio::steady_timer timer{io, at_most};
    const auto over = std::make_shared<bool>(false);  // outlives the timer
    timer.async_wait([over](const boost::system::error_code& ec) { *over = !ec; });
    while (!done() && !*over) {
        io.restart();
        io.run_one_for(std::chrono::milliseconds{1});
    }
    return done();
}

struct asker final : question {
    std::optional<answer> got;
    std::optional<failure> why;
    std::optional<taken> tokens;
    int calls = 0;

    bool settled() const { return calls > 0; }

    void answered(const answer& a) override
    {
        got = a;
        ++calls;
    }

    void failed(failure f, taken t) override
    {
        why = f;
        tokens = t;
        ++calls;
    }
};

class memory_subject {
public:
    std::optional<answer> take(std::span<const charge> charges)
    {
        answer a;
        if (!store_.take(charges, base::now(), a)) {
            return std::nullopt;
        }
        for (std::size_t i = 0; i < charges.size(); ++i) {
            places_[charges[i].permit] = a.permit(i);
        }
        return a;
    }

    // Who calls it calls it once.
    void correct(const charge& c, const limit::correction& what, const std::string& receipt)
    {
        if (receipts_.insert(receipt).second) {
            charge known = c;
            known.permit = places_[c.permit];
            EXPECT_TRUE(store_.correct(known, what, base::now()));
        }
    }

    void set_unix_time()
    {
        store_.set_unix_time(base::unix_time() - base::now().time_since_epoch());
    }

    std::int64_t ticks(base::duration d) const { return d.count(); }

private:
    std::set<std::string> receipts_;
    // What the store calls the places that were taken.
    std::map<std::int64_t, std::int64_t> places_;
    memory_store store_{memory_options{.max_buckets = 10'000}};
};

// A shared store in a loop of its own. Timeouts are long here, as the machine may be busy.
class shared_subject {
public:
    explicit shared_subject(const shared_options& options)
        : store_(open_store(loop_, "shared", options, metrics_))
    {}

    ~shared_subject()
    {
        if (store_ != nullptr) {
            store_->close();
        }
        net::testing::end(loop_);
    }

    shared_subject(const shared_subject&) = delete;
    shared_subject& operator=(const shared_subject&) = delete;

    bool becomes_healthy(base::duration within = std::chrono::seconds{5})
    {
        return run_until(
            io(), [this] { return store_->healthy(); }, within
        );
    }

    // The failure, or nothing and the answer in `into`.
    std::optional<failure> ask(std::span<const charge> charges, answer& into)
    {
        asker a;
        if (const auto refused = store_->ask(charges, a)) {
            return refused;
        }
        run_until(io(), [&a] { return a.settled(); });
        if (a.got) {
            into = *a.got;
        }
        return a.why;
    }

    std::optional<answer> take(std::span<const charge> charges)
    {
        becomes_healthy();
        answer a;
        return ask(charges, a) ? std::nullopt : std::optional{a};
    }

    void correct(charge c, const limit::correction& what, const std::string& receipt)
    {
        c.may_be_corrected = true;
        c.correction = &what;
        c.receipt = receipt;
        EXPECT_TRUE(take({&c, 1}));
    }

    void set_unix_time() {}

    std::int64_t ticks(base::duration d) const { return d / std::chrono::microseconds{1}; }

    shared_store& store() { return *store_; }

    // Ends the store without closing it.
    void abandon() { store_.reset(); }

    boost::asio::io_context& io() { return loop_.context(); }

    net::loop& loop() { return loop_; }

    telemetry::store_metrics& metrics() { return metrics_; }

    template <typename Options>
    static Options patient()
    {
        Options o;
        o.timeout = std::chrono::seconds{2};
        return o;
    }

private:
    net::loop loop_;
    telemetry::store_metrics metrics_;
    std::shared_ptr<shared_store> store_;
};

class redis_subject : public shared_subject {
public:
    redis_subject() : redis_subject(std::make_shared<redis_server>(), patient<redis_options>()) {}

    redis_subject(std::shared_ptr<redis_server> server, const redis_options& options)
        : shared_subject(at(*server, options)), server_(std::move(server))
    {}

    redis_server& server() { return *server_; }

private:
    std::shared_ptr<redis_server> server_;

    static redis_options at(const redis_server& server, redis_options options)
    {
        options.port = std::to_string(server.port());
        return options;
    }
};

class postgres_subject : public shared_subject {
public:
    postgres_subject()
        : postgres_subject(std::make_shared<postgres_server>(), patient<postgres_options>())
    {}

    postgres_subject(std::shared_ptr<postgres_server> server, const postgres_options& options)
        : shared_subject(at(*server, options)), server_(std::move(server))
    {}

    postgres_server& server() { return *server_; }

private:
    std::shared_ptr<postgres_server> server_;

    // Its schema is one that does not outlive a crash.
    static postgres_options at(const postgres_server& server, postgres_options options)
    {
        if (server.command("SELECT version FROM gateway.version") !=
            std::to_string(postgres::schema_version)) {
            EXPECT_EQ(server.command(postgres::schema_script(false)), "");
        }
        options.servers[0].port = std::to_string(server.port());
        options.parameters = {{"user", "gateway"}, {"dbname", "postgres"}};
        return options;
    }
};

}  // namespace gateway::store::testing
