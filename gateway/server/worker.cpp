#include "gateway/server/worker.hpp"

#include <boost/asio/post.hpp>

#include <netinet/in.h>

namespace gateway::server {

worker::worker(
    shared_state& shared,
    std::size_t index,
    const snapshot& s,
    const std::vector<listener_options>& listeners,
    std::vector<net::socket> listening
)
    : shared_(shared),
      index_(index),
      log_(shared.log),
      log_enabled_(shared.log.enabled()),
      resources_(loop_, shared.metrics, index),
      corrections_(shared.local, loop_),
      fallback_debts_(corrections_, loop_),
      checks_(shared.local, loop_, top_, parts_, fallback_debts_),
      leases_(loop_),
      held_(loop_, shared.waiting, shared.metrics.worker(index).requests_waiting),
      bucket_desk_(shared.local, loop_),
      view_(resources_.adopt(s)),
      environment_{
          loop_,
          checks_,
          corrections_,
          leases_,
          held_,
          spare_connections_,
          shared.metrics.worker(index),
          log_,
          log_enabled_,
          view_,
          scratch_,
          date_,
          [this](session& ended_one) { ended(ended_one); },
      }
{
    for (std::size_t i = 0; i < listeners.size(); ++i) {
        doors_.emplace_back(*this, std::move(listening[i]), listeners[i].decide);
    }
    loop_.on_tick([this](base::instant now) { tick(now); });
}

worker::~worker()
{
    if (thread_.joinable()) {
        drain();
        abort();
        thread_.join();
    }
}

void worker::start(std::function<void()> finished)
{
    for (door& d : doors_) {
        d.listener().start();
    }
    thread_ = std::thread([this, finished = std::move(finished)] {
        loop_.run();
        log_.flush();
        finished();
    });
}

bool worker::make_room()
{
    if (shared_.connections.fetch_add(1, std::memory_order_relaxed) < shared_.max_connections) {
        return true;
    }
    room_unused();
    paused_ = true;  // the tick resumes
    return false;
}

void worker::room_unused()
{
    shared_.connections.fetch_sub(1, std::memory_order_relaxed);
}

// A Unix socket's peer is on this machine: it counts as the loopback address, and against no cap.
void worker::accepted(
    net::socket connected,
    const std::optional<base::ip_address>& peer,
    const std::optional<decide_options>& decide
)
{
    std::optional<base::ip_address> counted_as;
    if (peer.has_value() && !let_in(*peer, counted_as)) {
        shared_.metrics.worker(index_).refused_per_peer.add();
        room_unused();
        return;
    }
    const auto here = base::ip_address::v4(INADDR_LOOPBACK);
    session& s =
        sessions_.emplace_back(environment_, std::move(connected), peer.value_or(here), decide);
    s.self = std::prev(sessions_.end());
    s.counted_as = counted_as;
    s.start();
    if (draining_) {
        s.drain();
    }
}

// Addresses in one prefix are one peer, as they are one client.
bool worker::let_in(const base::ip_address& peer, std::optional<base::ip_address>& counted_as)
{
    const identity::client_options& client = view_->policy->client;
    if (view_->max_connections_per_peer == 0 || identity::is_trusted(client, peer)) {
        return true;
    }
    counted_as = peer.masked(client.ipv4_prefix, client.ipv6_prefix);
    return shared_.peers.enter(*counted_as, view_->max_connections_per_peer);
}

void worker::ended(session& s)
{
    if (s.counted_as.has_value()) {
        shared_.peers.leave(*s.counted_as);
    }
    sessions_.erase(s.self);
    room_unused();
    end_if_done();
}

void worker::tick(base::instant now)
{
    log_.flush();
    date_.refresh(base::unix_time());
    log_enabled_ = shared_.log.enabled();
    resources_.sweep();
    checks_.trim();
    fallback_debts_.settle();
    corrections_.retry();
    leases_.renew();
    spare_connections_.trim(*view_);
    if (index_ == 0) {
        shared_.local.set_unix_time(base::unix_time() - base::now().time_since_epoch());
        shared_.local.sweep(now, sweep_passes);
    }
    if (paused_ && !draining_ &&
        shared_.connections.load(std::memory_order_relaxed) < shared_.max_connections) {
        paused_ = false;
        for (door& d : doors_) {
            d.listener().resume();
        }
    }
    end_if_done();
}

void worker::reload(std::shared_ptr<const snapshot> s)
{
    boost::asio::post(loop_.context(), [this, s = std::move(s)] { view_ = resources_.adopt(*s); });
}

void worker::drain()
{
    boost::asio::post(loop_.context(), [this] { begin_drain(); });
}

void worker::begin_drain()
{
    draining_ = true;
    loop_.refresh_now();
    for (door& d : doors_) {
        d.listener().close();
    }
    for (auto s = sessions_.begin(); s != sessions_.end();) {
        (s++)->drain();
    }
    end_if_done();
}

void worker::abort()
{
    boost::asio::post(loop_.context(), [this] {
        loop_.refresh_now();
        for (auto s = sessions_.begin(); s != sessions_.end();) {
            (s++)->abort();
        }
    });
}

void worker::ask(std::function<void(worker_desk&)> question)
{
    boost::asio::post(loop_.context(), [this, question = std::move(question)] {
        loop_.refresh_now();
        worker_desk desk{*view_, bucket_desk_, top_};
        question(desk);
    });
}

// The loop's run() returns when nothing is left to wait for; it is never stopped.
void worker::end_if_done()
{
    if (draining_ && sessions_.empty()) {
        if (!corrections_until_) {
            corrections_until_ = loop_.now() + last_corrections;
        }
        fallback_debts_.settle();
        const bool leases_ended = resources_.end_leases();
        const bool done = leases_ended && corrections_.idle() && fallback_debts_.idle();
        if (!done && loop_.now() < *corrections_until_) {
            return;  // the tick looks again
        }
        // Or an old view among them would keep its store links open.
        spare_connections_.clear();
        fallback_debts_.lose_all();
        corrections_.lose_all();
        resources_.close();
        loop_.stop();
    }
}

}  // namespace gateway::server
