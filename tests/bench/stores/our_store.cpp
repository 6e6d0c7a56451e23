#include "config/urls/store_url.hpp"
#include "gateway/net/loop.hpp"
#include "gateway/store/kinds.hpp"
#include "tests/bench/stores/workload.hpp"
#include "tests/unit/net/loop_end.hpp"

#include <array>
#include <deque>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace gateway::bench {

namespace {

using clock = std::chrono::steady_clock;

limit::limit limit_of(const workload& w)
{
    const std::chrono::seconds second{1};
    const auto made = w.kind == "token_bucket" ? limit::limit::make(w.per_second, second, w.burst)
                      : w.kind == "fixed_window"
                          ? limit::limit::in_windows(
                                {.count = w.per_second, .length = second, .capacity = w.burst}
                            )
                      : w.kind == "sliding_window" ? limit::limit::sliding(w.burst, second, 16)
                      : w.kind == "sliding_log"    ? limit::limit::sliding(w.burst, second, 0)
                                                   : std::nullopt;
    if (!made) {
        throw std::runtime_error("no such limit: " + w.kind);
    }
    return *made;
}

store::shared_options options_of(const workload& w)
{
    if (w.in_postgres()) {
        return config::parse_store_url(w.server).value.value();
    }
    store::redis_options options;
    options.port = w.server;
    return options;
}

// Asks one decision after the other.
class caller final : private store::question {
public:
    caller(store::shared_store& from, const limit::limit& l, const workload& w, result& into)
        : store_(from), limit_(l), work_(w), into_(into), lease_{.percent = w.lease}
    {}

    void begin(clock::time_point until)
    {
        until_ = until;
        next();
    }

    bool at_rest() const { return !asked(); }

    bool failed() const { return failed_; }

private:
    store::shared_store& store_;
    const limit::limit& limit_;
    const workload& work_;
    result& into_;
    const limit::token_lease lease_;
    clock::time_point until_;
    clock::time_point asked_at_;
    bool failed_ = false;
    static inline std::minstd_rand random_{1};

    std::array<std::string, store::max_charges> names_;
    std::array<store::charge, store::max_charges> charges_;

    void next()
    {
        asked_at_ = clock::now();
        while (asked_at_ < until_) {
            name_buckets();
            store::answer known;
            const bool decided = store_.recalls(charges(), base::now(), known) ||
                                 store_.take_leased(charges(), known);
            if (!decided) {
                failed_ = store_.ask(charges(), *this).has_value();
                return;
            }
            count(known);
            asked_at_ = clock::now();
        }
    }

    std::span<const store::charge> charges() const { return {charges_.data(), work_.limits}; }

    void name_buckets()
    {
        const std::string key = std::to_string(random_() % work_.keys);
        for (std::size_t i = 0; i < work_.limits; ++i) {
            names_[i] = key + ' ' + std::to_string(i);
            charges_[i] = {
                .limit_name = "l",
                .bucket_name = base::hashed_name{names_[i]},
                .limit = &limit_,
                .lease = lease_.any() ? &lease_ : nullptr,
            };
        }
    }

    void count(const store::answer& a)
    {
        ++into_.decisions;
        into_.allowed += a.admitted ? 1 : 0;
        into_.latencies.push_back(clock::now() - asked_at_);
    }

    void answered(const store::answer& a) override
    {
        count(a);
        next();
    }

    void failed(store::failure, store::taken) override { failed_ = true; }
};

}  // namespace

result ask_our_store(const workload& w)
{
    net::loop loop;
    telemetry::store_metrics metrics;
    store::shared_options options = options_of(w);
    store::common(options).timeout = std::chrono::seconds{2};
    store::common(options).remember_rejections = w.remember;
    if (const auto made = store::prepare(options); !made.complaint.empty()) {
        throw std::runtime_error(made.complaint);
    }
    std::vector<std::shared_ptr<store::shared_store>> stores;
    for (std::size_t i = 0; i < w.stores; ++i) {
        stores.push_back(store::open_store(loop, "bench", options, metrics));
    }
    for (const auto& s : stores) {
        while (!s->healthy()) {
            loop.context().run_one();
        }
    }
    const limit::limit l = limit_of(w);
    result r;
    std::deque<caller> callers;
    for (std::size_t i = 0; i < w.callers; ++i) {
        callers.emplace_back(*stores[i % w.stores], l, w, r);
    }
    const auto until = clock::now() + w.lasts;
    for (caller& c : callers) {
        c.begin(until);
    }
    for (caller& c : callers) {
        while (!c.at_rest()) {
            loop.context().run_one();
        }
        if (c.failed()) {
            throw std::runtime_error("the store failed");
        }
    }
    r.calls = static_cast<std::int64_t>(metrics.requests.value());
    for (const auto& s : stores) {
        s->close();
    }
    net::testing::end(loop);
    return r;
}

}  // namespace gateway::bench
