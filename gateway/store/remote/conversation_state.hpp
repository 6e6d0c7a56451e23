// `conversation_state` is what one worker asks one server of a shared store: which questions wait,
// which are under way and until when, and if the store is worth asking. Pure: it knows no sockets
// and no kind of store, and time is an argument.
//
//   waiting -> under way, with others in one call -> answered, or failed
//
// At most max_calls are under way. Questions that are asked meanwhile wait for the end of the turn
// or for a reply, and then leave together. A question is not sent at all if an earlier answer shows
// that its bucket is empty. The requests of one client beyond its limit therefore cost the store a
// few calls, however many connections the client has, and a late call says something about the
// store, not about the worker's queue. No question waits for a call to fill up: it leaves at once
// if no other is pending, and otherwise at the end of the turn if a call is free.
//
// A question that is answered or failed may, from inside that call, ask again, abandon other
// questions, or close everything.
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

// `conversation_port` is what the conversation needs of its owner, the link.
class conversation_port {
public:
    virtual void send(const call& c) = 0;
    // Sends a call that takes from a bucket of its own. Its reply has the same number.
    virtual void send_probe(std::int64_t number) = 0;
    // Closes the connection, which is of no more use. lost() is not called then.
    virtual void hang_up() = 0;
    // Has passed() called at that time, instead of the time given before.
    virtual void wake_at(base::instant at) = 0;
    // Has turn_ended() called when the work of this turn of the loop is done.
    virtual void wake_after_turn() = 0;
    // Reports that the store's health may have changed. Nothing: it is well.
    virtual void report(std::optional<failure> why) = 0;
    // Reports that a key of one of these questions holds something other than a bucket. Some of the
    // questions may have been abandoned.
    virtual void found_corrupt(std::span<const pending_question> asked) = 0;

protected:
    ~conversation_port() = default;
};

// `call_results` reads the store's reply to one call, question by question.
class call_results {
public:
    enum class kind { answer, corrupt, failed, garbage };

    // Reads the reply to the next question, which has that number of charges.
    virtual kind next(std::size_t charges, answer& into) = 0;

    // After `failed`, why() says why that question has no answer, and tokens() if some were taken
    // all the same.
    virtual failure why() const { return failure::corrupt; }

    virtual taken tokens() const { return taken::no; }

    // True if nothing is left to read.
    virtual bool ended() const = 0;
    // Returns the grant epoch (last_answer.hpp). It changes when somebody has given a bucket
    // tokens.
    virtual std::int64_t grant_epoch() const = 0;

protected:
    ~call_results() = default;
};

class conversation_state final : private lease_port {
public:
    static constexpr std::size_t max_calls = 4;

    // `seed` keeps workers from probing at the same time.
    // Ownership: `port` and `metrics` outlive this object.
    conversation_state(
        conversation_port& port,
        const conversation_options& options,
        telemetry::store_metrics& metrics,
        std::uint32_t seed
    );

    // These do what the functions of shared_store do; end_leases() is its settle_up().
    bool recalls(std::span<const charge> charges, base::instant now, answer& into) const;
    bool take_leased(std::span<const charge> charges, base::instant now, answer& into);
    bool end_leases(base::instant now);
    std::optional<failure> ask(std::span<const charge> charges, question& q, base::instant now);

    // The state of the link. The code that connects advances it up to `connected`, and then calls
    // ready().
    link_state& link() { return link_; }

    void ready(base::instant now);
    // Ends the use of the connection: it is gone, or could not be made.
    void lost(failure why, base::instant now);

    // Takes the store's reply to the call or probe of that number. Returns false if it is not a
    // reply to what was asked; the connection has then been given up. True says nothing of the
    // connection, as a question that was answered may have closed it.
    bool answered(std::int64_t number, call_results& results, base::instant now);
    // Fails the call or probe of that number, to which the store gives no answer.
    void refused(std::int64_t number, failure why, taken tokens, base::instant now);

    void turn_ended(base::instant now);
    // Checks all deadlines.
    // Requires: all that has arrived by now was passed to answered(), so that an answer that is
    // here is in time.
    void passed(base::instant now);

    // Closes the conversation for ever. Pending questions fail, or are abandoned without a call.
    enum class pending_ones { fail, abandon };
    void close(pending_ones what);

    // True if no question is pending.
    bool idle() const { return pending() == 0; }

    bool healthy() const { return link_.ready() && !breaker_.open(); }

    bool breaker_open() const { return breaker_.open(); }

private:
    conversation_port& port_;
    conversation_options options_;
    // Time after its deadline at which a call, and the connection with it, is given up.
    base::duration stuck_after_;

    telemetry::store_metrics& metrics_;
    link_state link_;
    breaker_state breaker_;
    last_answer last_answer_;
    empty_buckets empty_;
    base::ring<pending_question> waiting_;
    std::array<call, max_calls> calls_{};
    // Leases of tokens. Declared after the slots of their questions, so that the leases end first,
    // and their questions leave the slots.
    token_leases leases_;
    std::int64_t last_number_ = 0;
    // Number of the probe under way. 0: there is none.
    std::int64_t probe_number_ = 0;
    base::instant probe_deadline_{};
    bool probe_late_ = false;
    // Time of the next probe.
    base::instant probe_at_ = base::instant::max();
    // Time when the first lease is over.
    base::instant lease_end_ = base::instant::max();
    base::instant wake_at_ = base::instant::max();
    // Changes when all pending questions end: with the connection, and with close().
    std::uint64_t era_ = 0;
    // True while a call is being filled.
    bool filling_ = false;
    std::minstd_rand random_;

    // conversation_state.cpp takes questions, or refuses them.
    bool recalls(std::span<const charge> charges, base::instant now, belief counts, answer& into)
        const;
    belief what_counts() const;
    std::optional<failure> ask_store(
        std::span<const charge> charges, question& q, base::instant now
    );
    failure refuse(failure why, base::instant now);
    void note_failure(failure why, base::instant now);
    std::size_t pending() const;

    // conversation_calls.cpp decides which questions travel together.
    bool send_waiting(base::instant now);
    bool fill(call& c, int& recalled, base::instant now);
    static void drop_those_who_left(call& c);
    pending_question take_waiting();
    void send(call& c, base::instant now);
    call* free_call();
    call* under_way(std::int64_t number);

    // conversation_answers.cpp passes on answers and failures.
    bool settle(call& c, call_results& results, base::instant now);
    void fail(const pending_question& claimed, failure why, taken tokens, base::instant now);

    // conversation_time.cpp has deadlines, probes, and the loss of the connection.
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
