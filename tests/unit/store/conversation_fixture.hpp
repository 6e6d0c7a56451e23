// A conversation with a store that the test plays: what is sent is on the wire, and time is told.
#pragma once

#include "gateway/store/remote/conversation_state.hpp"
#include "gateway/store/remote/corrupt_keys.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace gateway::store::testing {

using namespace std::chrono_literals;

struct asker final : question {
    std::optional<answer> got;
    std::optional<failure> why;
    std::optional<taken> tokens;
    // In a call that has left.
    bool sent = false;
    int calls = 0;
    // The clock of the test, and the last moment at which it may hear.
    const base::instant* now = nullptr;
    base::instant until{};
    std::function<void()> then;

    void answered(const answer& a) override
    {
        got = a;
        end();
    }

    void failed(failure f, taken t) override
    {
        why = f;
        tokens = t;
        end();
    }

    void end()
    {
        ++calls;
        EXPECT_TRUE(now == nullptr || *now <= until);
        if (then) {
            then();
        }
    }
};

// Admits every question with so many tokens left, or says something else.
class scripted_results final : public call_results {
public:
    explicit scripted_results(std::vector<std::int64_t> remaining, std::int64_t mark = 0)
        : remaining_(std::move(remaining)), mark_(mark)
    {}

    static constexpr std::int64_t corrupt = -2;
    static constexpr std::int64_t garbage = -3;
    static constexpr std::int64_t rejected = -1;

    kind next(std::size_t charges, answer& into) override
    {
        if (ended() || remaining_[at_] == garbage) {
            return kind::garbage;
        }
        const std::int64_t left = remaining_[at_++];
        if (left == corrupt) {
            return kind::corrupt;
        }
        into.clear();
        into.admitted = left != rejected;
        for (std::size_t i = 0; i < charges; ++i) {
            into.add({
                .allowed = into.admitted,
                .remaining = std::max<std::int64_t>(left, 0),
                .retry_after = into.admitted ? 0s : 1h,
                .reset_after = 10h,
            });
        }
        return kind::answer;
    }

    bool ended() const override { return at_ == remaining_.size(); }

    std::int64_t grant_epoch() const override { return mark_; }

private:
    std::vector<std::int64_t> remaining_;
    std::int64_t mark_;
    std::size_t at_ = 0;
};

class conversation : public ::testing::Test, private conversation_port {
protected:
    struct sent {
        std::int64_t number = 0;
        std::size_t questions = 0;  // none: a probe
        // Of its last question.
        std::int64_t cost = 0;
        bool gives_back = false;
    };

    const limit::limit ten = *limit::limit::make(1, 1h, 10);
    // When somebody gave a bucket tokens.
    std::int64_t mark = 0;
    conversation_options options;
    telemetry::store_metrics metrics;
    std::optional<conversation_state> made;
    base::instant now{1h};
    std::deque<sent> wire;
    base::instant wake = base::instant::max();
    bool turn_waits = false;
    int hung_up = 0;
    std::vector<std::optional<failure>> reports;
    corrupt_keys told_corrupt{"s"};
    // What was logged of them.
    std::vector<std::string> lines;
    std::deque<asker> askers;
    std::deque<std::string> names;
    std::deque<charge> charges;

    conversation_state& it()
    {
        if (!made) {
            made.emplace(static_cast<conversation_port&>(*this), options, metrics, 1U);
        }
        return *made;
    }

    void connect()
    {
        it().link().connecting();
        it().link().connected();
        it().ready(now);
    }

    std::optional<failure> ask(const std::string& name)
    {
        names.push_back(name);
        charges.push_back({"ten", base::hashed_name{names.back()}, &ten, 1, true});
        return ask_for(charges.back());
    }

    std::optional<failure> ask_for(const charge& c)
    {
        askers.emplace_back();
        askers.back().now = &now;
        askers.back().until = now + options.timeout + 5ms;
        return it().ask({&c, 1}, askers.back(), now);
    }

    void end_turn()
    {
        turn_waits = false;
        it().turn_ended(now);
    }

    // Time goes on, and the timer with it.
    void pass(base::duration time)
    {
        const base::instant end = now + time;
        while (wake <= end) {
            now = std::max(now, wake);
            wake = base::instant::max();
            it().passed(now);
        }
        now = end;
    }

    void pass_until_a_probe()
    {
        for (int i = 0; i < 1000 && (wire.empty() || wire.back().questions != 0); ++i) {
            pass(1ms);
        }
        ASSERT_FALSE(wire.empty());
    }

    // A first question that is answered too late.
    void fail_until_a_probe()
    {
        connect();
        ask("a");
        pass(26ms);
        EXPECT_TRUE(reply({9}));
        pass_until_a_probe();
    }

    // The store's reply to the oldest call.
    bool reply(std::vector<std::int64_t> remaining)
    {
        const sent oldest = wire.front();
        wire.pop_front();
        scripted_results results{std::move(remaining), mark};
        return it().answered(oldest.number, results, now);
    }

    // Its charges are not there any more, either.
    void leave(std::size_t i)
    {
        askers[i].abandon_question();
        charges[i].limit = nullptr;
    }

    bool reply_to_all(std::int64_t remaining)
    {
        return reply(
            std::vector<std::int64_t>(std::max<std::size_t>(wire.front().questions, 1), remaining)
        );
    }

    std::uint64_t failures(failure f)
    {
        return metrics.failures[static_cast<std::size_t>(f)].value();
    }

private:
    void send(const call& c) override
    {
        EXPECT_GT(c.count, 0U);
        for (const pending_question& p : c.all()) {
            EXPECT_NE(p.charges[0].limit, nullptr) << "of somebody who has left";
            if (auto* const by = dynamic_cast<asker*>(p.asker); by != nullptr) {
                by->sent = true;
            }
        }
        const charge& last = c.all().back().charges[0];
        wire.push_back({c.number, c.count, last.cost, last.correction != nullptr});
    }

    void send_probe(std::int64_t number) override { wire.push_back({number}); }

    void hang_up() override
    {
        ++hung_up;
        wire.clear();
    }

    void wake_at(base::instant at) override { wake = at; }

    void wake_after_turn() override { turn_waits = true; }

    void report(std::optional<failure> why) override { reports.push_back(why); }

    void found_corrupt(std::span<const pending_question> asked) override
    {
        const auto key = [](const charge& c) { return std::string{c.bucket_name.bytes()}; };
        if (const auto line = told_corrupt.found(asked, key, now)) {
            lines.push_back(*line);
        }
    }
};

}  // namespace gateway::store::testing
