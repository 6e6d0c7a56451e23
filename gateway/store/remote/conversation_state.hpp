// A worker's conversation with a shared store: who asks, what is under way, until when, and whether
// it is worth asking. Pure: it knows no sockets and no kind of store, and time is an argument.
//
//   waiting -> under way, with others in one call -> answered, or failed
//
// At most max_calls are under way; what is asked meanwhile waits for the end of the turn or for a
// reply, and then leaves together. It is not sent at all if an answer that came before shows that
// its bucket is empty. So what one client asks beyond its limit costs the store a few calls,
// however many connections it asks on, and a call that is late says something about the store, not
// about our queue. Nothing waits for a call to fill: with none under way a question leaves with the
// turn.
//
// Who is told something may ask again, abandon other questions or close everything from inside.
#pragma once

#include "gateway/base/ring.hpp"
#include "gateway/store/options.hpp"
#include "gateway/store/remote/breaker_state.hpp"
#include "gateway/store/remote/call.hpp"
#include "gateway/store/remote/empty_buckets.hpp"
#include "gateway/store/remote/last_answer.hpp"
#include "gateway/store/remote/link_state.hpp"
#include "gateway/store/remote/token_leases.hpp"
#include "gateway/store/store.hpp"
#include "gateway/telemetry/metrics.hpp"

#include <array>
#include <optional>
#include <random>
#include <span>

namespace gateway::store {

// What the conversation does through its owner.
class conversation_port {
public:
    virtual void send(const call& c) = 0;
    // A call that takes from a bucket of its own. Its reply has the same number.
    virtual void send_probe(std::int64_t number) = 0;
    // Closes the connection, which is of no use any more. No lost() follows.
    virtual void hang_up() = 0;
    // Has passed() called then, instead of when it was told last.
    virtual void wake_at(base::instant at) = 0;
    // Has turn_ended() called when what is to be done in this turn of the loop is done.
    virtual void wake_after_turn() = 0;
    // Something about the store's health may have changed. Nothing: all is well.
    virtual void report(std::optional<failure> why) = 0;
    // A key of one of these holds something else than a bucket. Some may have been abandoned.
    virtual void found_corrupt(std::span<const pending_question> asked) = 0;

protected:
    ~conversation_port() = default;
};

// What the store says to one call, question by question.
class call_results {
public:
    enum class kind { answer, corrupt, failed, garbage };

    // To the next question, which had so many charges.
    virtual kind next(std::size_t charges, answer& into) = 0;

    // Of `failed`: why there is no answer to that question, and what was done all the same.
    virtual failure why() const { return failure::corrupt; }

    virtual taken tokens() const { return taken::no; }

    // Nothing is left.
    virtual bool ended() const = 0;
    // Another number than before if somebody has given a bucket tokens since.
    virtual std::int64_t grant_mark() const = 0;

protected:
    ~call_results() = default;
};

class conversation_state final : private lease_port {
public:
    static constexpr std::size_t max_calls = 4;

    // `port` and `metrics` must outlive it. `seed` keeps workers from probing at once.
    conversation_state(
        conversation_port& port,
        const conversation_options& options,
        telemetry::store_metrics& metrics,
        std::uint32_t seed
    );

    // See shared_store.
    bool recalls(std::span<const charge> charges, base::instant now, answer& into) const;
    bool take_leased(std::span<const charge> charges, base::instant now, answer& into);
    bool end_leases(base::instant now);
    std::optional<failure> ask(std::span<const charge> charges, question& q, base::instant now);

    // Whoever connects tells it how far it is, up to `connected`; then comes ready().
    link_state& link() { return link_; }

    void ready(base::instant now);
    // The connection is gone, or there was none to be had.
    void lost(failure why, base::instant now);

    // The store's reply to the call or probe of that number. False: it is not the reply to what was
    // asked, and the connection has been given up. True says nothing of the connection: who was
    // told may have closed it.
    bool answered(std::int64_t number, call_results& said, base::instant now);
    // It gives no answer to the call or probe.
    void refused(std::int64_t number, failure why, taken tokens, base::instant now);

    void turn_ended(base::instant now);
    // Call it when what has arrived by now has been told: an answer that is here is in time.
    void passed(base::instant now);

    // For ever. The pending questions fail, or are abandoned without a call.
    enum class pending_ones { fail, abandon };
    void close(pending_ones what);

    // Nobody waits for it.
    bool idle() const { return pending() == 0; }

    bool healthy() const { return link_.ready() && !breaker_.open(); }

    bool breaker_open() const { return breaker_.open(); }

private:
    conversation_port& port_;
    conversation_options options_;
    // How long after its deadline a call is given up, and its connection with it.
    base::duration stuck_after_;

    telemetry::store_metrics& metrics_;
    link_state link_;
    breaker_state breaker_;
    last_answer last_answer_;
    empty_buckets empty_;
    base::ring<pending_question> waiting_;
    std::array<call, max_calls> calls_{};
    // Behind the places of its questions, which leave them at the end.
    token_leases leases_;
    std::int64_t last_number_ = 0;
    // Of the probe under way; 0: none.
    std::int64_t probe_number_ = 0;
    base::instant probe_deadline_{};
    bool probe_late_ = false;
    // The next one.
    base::instant probe_at_ = base::instant::max();
    // When the first lease is over.
    base::instant lease_end_ = base::instant::max();
    base::instant wake_at_ = base::instant::max();
    // Changes when all that is pending goes: with the connection, and with close().
    std::uint64_t era_ = 0;
    // A call is being filled.
    bool filling_ = false;
    std::minstd_rand random_;

    // conversation_state.cpp: asking.
    bool recalls(std::span<const charge> charges, base::instant now, belief counts, answer& into)
        const;
    belief what_counts() const;
    std::optional<failure> ask_store(
        std::span<const charge> charges, question& q, base::instant now
    );
    failure refuse(failure why, base::instant now);
    void note_failure(failure why, base::instant now);
    std::size_t pending() const;

    // conversation_calls.cpp: which questions travel together.
    bool send_waiting(base::instant now);
    bool fill(call& c, int& recalled, base::instant now);
    static void drop_those_who_left(call& c);
    pending_question take_waiting();
    void send(call& c, base::instant now);
    call* free_call();
    call* under_way(std::int64_t number);

    // conversation_answers.cpp.
    bool settle(call& c, call_results& said, base::instant now);
    void fail(const pending_question& claimed, failure why, taken tokens, base::instant now);

    // conversation_time.cpp: deadlines, probes, loss.
    void wake_by(base::instant at);

    base::instant due_at(const call& c) const { return c.sent + options_.timeout; }

    bool expire_calls(base::instant now);
    bool expire_waiting(base::instant now);
    bool was_silent_for(const pending_question& p) const;
    bool is_stuck(base::instant now) const;
    void check_probe(base::instant now);
    void probe(base::instant now);
    void probe_later(base::instant now);
    void probe_succeeded();
    void give_up(failure why, base::instant now);
    base::instant next_deadline() const;

    std::optional<failure> ask_for_lease(
        std::span<const charge> charges, question& q, base::instant now
    ) override;
    void wake_for_lease(base::instant at) override;
};

}  // namespace gateway::store
