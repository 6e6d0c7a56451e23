// A bucket in a store, and workers that lease tokens of it: each over a connection of its own that
// takes its time. What is admitted is charged to an ideal bucket as well, at the moment at which it
// is: that one rejects what a limit without leases would have rejected.
#pragma once

#include "gateway/limit/algebra.hpp"
#include "gateway/limit/correction.hpp"
#include "gateway/store/remote/call.hpp"
#include "gateway/store/remote/token_leases.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace gateway::store::testing {

using namespace std::chrono_literals;
using std::chrono::microseconds;

class leased_world {
public:
    leased_world(const limit::limit& l, limit::token_lease lease, std::size_t workers)
        : limit_(l), lease_(lease)
    {
        for (std::size_t i = 0; i < workers; ++i) {
            workers_.push_back(std::make_unique<worker>(*this));
        }
    }

    base::instant now{1h};
    // On the way to the store, and back.
    base::duration latency = 200us;
    std::int64_t admitted = 0;
    std::int64_t rejected = 0;
    // What the ideal bucket would have rejected.
    std::int64_t too_many = 0;
    // Questions to the store, about requests and leases.
    std::int64_t asked = 0;
    std::int64_t given_back = 0;
    std::int64_t mark = 0;

    void request(std::size_t by, std::int64_t cost = 1) { workers_[by]->request(cost); }

    // Its connection is gone, and what it knows.
    void crash(std::size_t which) { workers_[which]->crashed = true; }

    // What is on its way arrives.
    void pass(base::duration time)
    {
        const base::instant end = now + time;
        while (now < end) {
            now = std::min(end, now + 100us);
            for (const auto& w : workers_) {
                w->pass();
            }
        }
    }

    std::int64_t left() const
    {
        return limit::look(limit_.in_microseconds(), bucket_, far()).remaining;
    }

    // In one that was charged for what was admitted, when it was.
    std::int64_t left_in_ideal() const
    {
        return limit::look(limit_.in_microseconds(), ideal_, ticks()).remaining;
    }

    void reset()
    {
        bucket_ = {};
        ideal_ = {};
        ++mark;
    }

    token_leases& leases(std::size_t of) { return workers_[of]->leases; }

private:
    struct asker final : question {
        leased_world* world = nullptr;
        charge of{};
        bool over = false;

        // The store has admitted it when it looked, not now.
        void answered(const answer&) override { over = true; }

        void failed(failure, taken) override { over = true; }
    };

    // A question on its way.
    struct sent {
        pending_question place;
        base::instant arrives{};
        base::instant returns{};
        std::int64_t mark = 0;
        bool executed = false;
        answer said;
    };

    struct worker final : lease_port {
        explicit worker(leased_world& w) : world(w), leases(*this, last) {}

        leased_world& world;
        std::deque<std::unique_ptr<sent>> wire;
        std::deque<asker> askers;
        base::instant wake = base::instant::max();
        bool crashed = false;
        last_answer last;
        token_leases leases;

        void request(std::int64_t cost)
        {
            if (crashed) {
                return;
            }
            const charge c = world.charge_of(cost);
            answer a;
            if (leases.spend({&c, 1}, world.now, belief::fresh, a)) {
                world.admit(cost);
                return;
            }
            leases.asked({&c, 1}, world.now);
            asker& q = askers.emplace_back();
            q.of = c;
            send({&q.of, 1}, q);
        }

        void send(std::span<const charge> charges, question& q)
        {
            auto s = std::make_unique<sent>();
            s->place.hold(q, charges, world.now, world.now);
            s->arrives = world.now + world.latency;
            s->returns = s->arrives + world.latency;
            wire.push_back(std::move(s));
            ++world.asked;
        }

        void pass()
        {
            for (const auto& s : wire) {
                if (!s->executed && s->arrives <= world.now) {
                    s->executed = true;
                    s->mark = world.mark;
                    world.execute(s->place.charges[0], s->said);
                }
            }
            if (crashed) {
                return;
            }
            while (!wire.empty() && wire.front()->returns <= world.now) {
                const auto s = std::move(wire.front());
                wire.pop_front();
                if (last.heard(s->mark, s->place.asked)) {
                    leases.forget();
                }
                if (s->place.asker != nullptr) {
                    leases.answered(s->place.charges, s->said, s->place.asked, world.now);
                    s->place.release()->answered(s->said);
                }
            }
            while (!askers.empty() && askers.front().over) {
                askers.pop_front();
            }
            if (wake <= world.now) {
                wake = leases.passed(world.now);
            }
        }

        std::optional<failure> ask_for_lease(
            std::span<const charge> charges, question& q, base::instant
        ) override
        {
            send(charges, q);
            return std::nullopt;
        }

        void wake_for_lease(base::instant at) override { wake = std::min(wake, at); }
    };

    limit::limit limit_;
    limit::token_lease lease_;
    limit::bucket bucket_;
    limit::bucket ideal_;
    std::vector<std::unique_ptr<worker>> workers_;

    charge charge_of(std::int64_t cost) const
    {
        return {
            .limit_name = "l",
            .bucket_name = base::hashed_name{"hot"},
            .limit = &limit_,
            .cost = cost,
            .lease = &lease_};
    }

    // By the clock of the store, which is another one.
    std::int64_t far() const { return ticks() + 1'234'567'890; }

    std::int64_t ticks() const { return now.time_since_epoch() / microseconds{1}; }

    void admit(std::int64_t cost)
    {
        admitted += cost;
        const auto said = limit::take(limit_.in_microseconds(), ideal_, ticks(), cost);
        if (said.allowed) {
            ideal_ = said.after;
        } else {
            too_many += cost;
        }
    }

    void execute(const charge& c, answer& into)
    {
        const limit::terms& t = limit_.in_microseconds();
        if (c.correction != nullptr && c.correction->grant_epoch != mark) {
            into.add({.allowed = true});
            return;
        }
        if (c.correction != nullptr) {
            bucket_ = limit::corrected(t, bucket_, far(), *c.correction);
            given_back += c.correction->of.tokens;
            into.add({.allowed = true});
            return;
        }
        const auto said = limit::take(t, bucket_, far(), c.cost);
        into.admitted = said.allowed;
        into.add(limit::decision_in<microseconds>(said));
        if (said.allowed) {
            bucket_ = said.after;
        }
        if (c.lease != nullptr) {
            said.allowed ? admit(c.cost) : void(rejected += c.cost);
        }
    }
};

}  // namespace gateway::store::testing
