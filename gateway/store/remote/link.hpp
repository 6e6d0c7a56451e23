// One worker's connection to a store's server, kept up: it connects, is ready, is lost, rests, and
// connects again. What is said over it is up to its conversation; how, to the kind of server.
//
// On the worker's thread. Held by shared_ptr, as what it waits for may end after close().
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
    // `metrics` must outlive the loop.
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

    // For ever.
    void close(conversation_state::pending_ones what);

    // Tells no more how the store is.
    virtual void retire() = 0;

protected:
    // Connects from now on. `owned`: this, by who owns it. `server` is what the log calls it.
    void run(const std::shared_ptr<link>& owned, std::string server);

    // One attempt to connect and to greet. At its end the link is ready, lost or closed.
    virtual net::task<> connect() = 0;
    // Ends the present connection or attempt, if there is one, and forgets what was sent over it.
    virtual void disconnect() = 0;
    // Takes what has arrived. The connection may be lost, or closed by somebody who was told.
    virtual void receive() = 0;
    // For good: nothing is looked for any more.
    virtual void cancel() = 0;

    // The present connection, or the attempt, is of no use any more.
    void lost(failure why);
    // Something has changed at the server: a rest that is being taken ends early.
    void hint();

    // For what must not outlive it.
    std::shared_ptr<link> self() const { return self_.lock(); }

    // In [0, 1).
    double chance() { return std::uniform_real_distribution<double>{0, 1}(random_); }

    void hang_up() final;
    void wake_after_turn() final;

    // What keep_up() waits for, and connect() may: the end of a rest, of a greeting, or of the
    // connection. Cancelled by hang_up(), and at a hint.
    net::timer run_timer_;

private:
    std::weak_ptr<link> self_;
    net::executor executor_;
    conversation_wakes wakes_;
    // The server has changed since the rest began.
    bool hinted_ = false;
    std::minstd_rand random_;
    conversation_state conversation_;

    net::task<> keep_up(std::shared_ptr<link> self);
    net::task<> rest(base::duration spent);
    void wake_at(base::instant at) final;
};

}  // namespace gateway::store
