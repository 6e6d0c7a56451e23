// `link` keeps up one worker's connection to a server of a store: it connects, is ready, is lost,
// rests, and connects again. Its conversation decides what is sent, and the kind of server how.
// Thread: the worker's.
// Ownership: held by shared_ptr, as what it waits for may end after close().
#pragma once

#include "gateway/net/task.hpp"
#include "gateway/store/options.hpp"
#include "gateway/store/remote/conversation_state.hpp"
#include "gateway/store/remote/conversation_wakes.hpp"
#include "gateway/telemetry/metrics.hpp"

#include <memory>
#include <random>
#include <string>

namespace gateway::store {

class link : protected conversation_port {
public:
    // Ownership: `metrics` outlives the loop.
    link(
        const net::executor& executor,
        const conversation_options& options,
        telemetry::store_metrics& metrics
    );
    link(const link&) = delete;
    link& operator=(const link&) = delete;
    virtual ~link() = default;

    conversation_state& conversation() { return conversation_; }

    const conversation_state& conversation() const { return conversation_; }

    // Closes the link for ever.
    void close(conversation_state::pending_ones what);

    // Stops reporting the store's health.
    virtual void retire() = 0;

protected:
    // Connects, and keeps connecting. `owned` is this object, and `server` the server's name in
    // logs.
    void run(const std::shared_ptr<link>& owned, std::string server);

    // Tries once to connect and to greet. At the end the link is ready, lost or closed.
    virtual net::task<> connect() = 0;
    // Ends the present connection or attempt, if any, and forgets what was sent over it.
    virtual void disconnect() = 0;
    // Reads what has arrived. An answer's receiver may close the link, and the connection may be
    // lost.
    virtual void receive() = 0;
    // Stops for good what connect() or the kind of server looks for.
    virtual void cancel() = 0;

    // Gives up the present connection or attempt.
    void lost(failure why);
    // Notes that something has changed at the server, and ends a rest early.
    void hint();

    // Returns this object, for what needs it alive.
    std::shared_ptr<link> self() const { return self_.lock(); }

    // Returns a random number in [0, 1).
    double chance() { return std::uniform_real_distribution<double>{0, 1}(random_); }

    void hang_up() final;
    void wake_after_turn() final;

    // Timer that keep_up() waits for, and connect() may: the end of a rest, of a greeting, or of
    // the connection. Cancelled by hang_up(), and at a hint.
    net::timer run_timer_;

private:
    std::weak_ptr<link> self_;
    net::executor executor_;
    conversation_wakes wakes_;
    // True if the server has changed since the rest began.
    bool hinted_ = false;
    std::minstd_rand random_;
    conversation_state conversation_;

    net::task<> keep_up(std::shared_ptr<link> self);
    net::task<> rest(base::duration spent);
    void wake_at(base::instant at) final;
};

}  // namespace gateway::store
