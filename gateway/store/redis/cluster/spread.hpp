// `spread` is a question whose buckets are in several slots of a cluster. It is asked slot by slot,
// each all or nothing. If one rejects or fails, what the slots before it gave is refunded. Slots in
// which all limits are in shadow mode come last, and nothing fails for want of them: nothing is
// known of their buckets then. While it is being asked, others may therefore find a bucket emptier
// than it will have been.
#pragma once

#include "gateway/net/alarm.hpp"
#include "gateway/store/pending_corrections.hpp"
#include "gateway/store/redis/cluster/owned_charge.hpp"
#include "gateway/store/remote/call.hpp"
#include "gateway/store/store.hpp"
#include "gateway/telemetry/metrics.hpp"

#include <array>
#include <cstddef>
#include <deque>
#include <list>
#include <optional>
#include <span>

namespace gateway::store::redis {

class spread;

// `spreads` holds all spreads of a worker for one cluster, the one that was asked first in front.
class spreads {
public:
    static constexpr std::size_t max_pending = 16'384;

    // Ownership: `store`, which takes questions of one slot, and `metrics` outlive this.
    spreads(
        const net::executor& executor,
        shared_store& store,
        base::duration timeout,
        telemetry::store_metrics& metrics
    );
    spreads(const spreads&) = delete;
    spreads& operator=(const spreads&) = delete;

    ~spreads() { refunds_.lose_all(); }

    // Asks a question; see shared_store. `turns[i]` is the turn in which the i-th charge is asked
    // for, from 0.
    std::optional<failure> ask(
        std::span<const charge> charges, std::span<const std::size_t> turns, question& q
    );

    // Fails all questions, and loses what has not been refunded.
    void close();

    // True if nothing is being asked or refunded.
    bool idle() const { return all_.empty() && refunds_.idle(); }

private:
    friend class spread;

    shared_store& store_;
    base::duration timeout_;
    telemetry::store_metrics& metrics_;
    // Refunds of what was taken for questions that another slot rejected.
    pending_corrections refunds_;
    // Set while there are any refunds.
    net::alarm rest_over_;
    std::list<spread> all_;
    net::alarm first_deadline_;
    bool closed_ = false;

    void refund(const charge& c, const limit::decision& decision, base::instant taken_at);
    void rest();
    void expire();
};

class spread final : public question {
public:
    spread(spreads& owner, std::span<const charge> charges, std::span<const std::size_t> turns);

    // Abandons the question: whoever asked it hears nothing.
    ~spread() override { asker_.release(); }

    std::list<spread>::iterator self;

    // Asks the first turn. Returns nothing if it is under way, otherwise why it is not.
    std::optional<failure> begin(question& q, base::instant now, base::instant deadline);

    base::instant deadline() const { return asker_.deadline; }

    // Ends the question with a failure.
    void fail(failure why, taken tokens);

    // Ends the question at its deadline.
    void expire();

private:
    spreads& owner_;
    pending_question asker_;
    std::deque<owned_charge> owned_;
    // Charges in the order in which they are asked for, turn by turn.
    std::array<charge, max_charges> charges_{};
    std::array<std::size_t, max_charges> turn_of_{};
    // Position of each of these charges in the question.
    std::array<std::size_t, max_charges> position_of_{};
    std::array<limit::decision, max_charges> decisions_{};
    std::array<bool, max_charges> known_{};
    std::size_t count_;
    // Number of charges, from the first one on, in turns with a limit that is enforced.
    std::size_t needed_ = 0;
    // Present turn: its first charge, and its number of charges.
    std::size_t at_ = 0;
    std::size_t in_turn_ = 0;
    base::instant asked_at_{};
    std::array<base::instant, max_charges> taken_at_{};

    std::optional<failure> ask_turn();
    void answered(const answer& a) override;

    void failed(failure why, taken tokens) override;

    // True if the question can do without the present turn and those behind it.
    bool may_do_without() const { return at_ >= needed_; }

    void go_on();
    void refund();
    void finish(bool admitted);
};

}  // namespace gateway::store::redis
