// One worker's pipelined connection to a Redis server, and everything that keeps it honest: the
// order of replies, the deadline of each question, the breaker and its probes, and reconnecting.
//
// At most max_under_way calls are under way; what is asked meanwhile waits for its turn, and is not
// sent at all if an answer that came before shows that its bucket is empty. So what one client asks
// beyond its limit costs the server a few calls, however many connections it asks on, and a call
// that times out says something about the server, not about our queue.
//
// On the worker's thread. Held by shared_ptr, as what it waits for may end after close().
#pragma once

#include "gateway/base/ring.hpp"
#include "gateway/net/task.hpp"
#include "gateway/store/breaker_state.hpp"
#include "gateway/store/empty_buckets.hpp"
#include "gateway/store/options.hpp"
#include "gateway/store/redis/command.hpp"
#include "gateway/store/redis/connector.hpp"
#include "gateway/store/redis/link_state.hpp"
#include "gateway/store/redis/pending.hpp"
#include "gateway/store/redis/reply.hpp"
#include "gateway/store/store.hpp"
#include "gateway/telemetry/metrics.hpp"

#include <array>
#include <memory>
#include <optional>
#include <random>
#include <string>

namespace gateway::store::redis {

class link final : public shared_store {
public:
    static std::shared_ptr<link> start(
        const net::executor& executor,
        std::string name,
        const redis_options& options,
        telemetry::store_metrics& metrics
    );

    link(
        const net::executor& executor,
        std::string name,
        const redis_options& options,
        telemetry::store_metrics& metrics
    );
    link(const link&) = delete;
    link& operator=(const link&) = delete;

    bool recalls(std::span<const charge> charges, base::instant now, answer& into) const override;
    std::optional<failure> ask(std::span<const charge> charges, question& q) override;

    // The pending questions fail, or are abandoned without a call.
    enum class pending_ones { fail, abandon };
    void close(pending_ones what);

    void retire() { retired_ = true; }  // tells no more how it is

    bool healthy() const { return state_.ready() && !breaker_.open(); }

private:
    static constexpr std::size_t max_under_way = 64;

    std::weak_ptr<link> self_;
    net::executor executor_;
    std::string name_;
    redis_options options_;
    base::duration stuck_after_;  // a reply overdue by that much will not come
    telemetry::store_metrics& metrics_;

    link_state state_;
    breaker_state breaker_;
    std::shared_ptr<connector> connector_;
    net::stream_socket socket_;
    std::uint64_t generation_ = 0;  // of the connection; completions of an older one are ignored
    empty_buckets empty_;
    base::ring<pending_question> waiting_;
    base::ring<sent_command> under_way_;
    std::int64_t last_number_ = 0;  // of a call of the script
    reply_reader reader_;
    std::string outgoing_;
    std::size_t sent_ = 0;  // of outgoing_
    bool flush_posted_ = false;
    bool send_posted_ = false;
    bool awaiting_writable_ = false;
    bool script_on_its_way_ = false;
    std::array<char, 16 * 1024> incoming_;

    net::timer deadline_timer_;
    base::instant deadline_at_ = base::instant::max();  // what it is set to
    net::timer probe_timer_;
    net::timer rest_timer_;  // of run()
    std::minstd_rand random_;
    bool retired_ = false;
    std::optional<failure> reported_ =
        failure::open;  // what the log said last; nothing: all is well
    std::string reported_words_;
    // What the server or the system said at the last failure, and which it was.
    failure said_of_ = failure::open;
    std::string said_;

    // link.cpp: asking and answering.
    failure refuse(failure why, base::instant now);
    take_call next_call();

    bool may_send() const { return state_.ready() && under_way_.size() < max_under_way; }

    void send_waiting();
    void send_waiting_later();
    void send_take(pending_question asked, question& asker);
    sent_command& enqueue(sent_command::kind what, base::instant now);
    void send(const std::string& bytes);
    bool sends_at_once();
    void flush();
    void flush_when_writable();
    void read_later();
    void readable();
    bool receive();
    bool handle(const reply& r);
    bool handle_probe(const reply& r, std::int64_t number);
    void handle_take(const reply& r, base::instant now);
    bool ask_again(sent_command& forgotten);
    void load_script();
    void fail(const pending_question& asked, failure why, base::instant now);

    // link_recovery.cpp: time, loss and return.
    net::task<> run(std::shared_ptr<link> self);
    void begin();
    void lose(failure why);
    void fail_pending(failure why);
    static pending_question claim(pending_question& place);
    pending_question take_waiting();
    pending_question take_pending();
    void watch(base::instant at);
    void check_deadlines();
    bool expire_waiting(base::instant now);
    void probe_later();
    void probe();
    void probe_ended(std::optional<failure> why);
    void note(failure of, std::string said);
    void report(std::optional<failure> why);  // nothing: all is well
    void show_up(bool up);
    double random();
};

}  // namespace gateway::store::redis
