#include "gateway/worker/worker.hpp"

#include "gateway/telemetry/log.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <atomic>
#include <netinet/in.h>

namespace gateway::worker {

namespace {

// Returns the peer's address. A Unix socket's peer is on this machine, so it counts as the loopback
// address.
base::ip_address address_of(const std::optional<base::ip_address>& peer)
{
    return peer.value_or(base::ip_address::v4(INADDR_LOOPBACK));
}

// Logs the warning once in the whole process, which `warned` remembers.
void warn_once(
    std::atomic_flag& warned, const std::optional<base::ip_address>& peer, const char* what
)
{
    if (!warned.test_and_set(std::memory_order_relaxed)) {
        telemetry::log(
            telemetry::log_level::warning,
            "peer " + address_of(peer).to_string() + ' ' + what +
                ": closed (logged once; gateway_connections_refused_total counts all)"
        );
    }
}

}  // namespace

worker::worker(
    shared_state& shared,
    std::size_t index,
    const snapshot& s,
    const std::vector<client::listener_options>& listeners,
    std::vector<opened_listener> listening
)
    : shared_(shared),
      index_(index),
      log_(shared.log),
      log_enabled_(shared.log.enabled()),
      resources_(loop_, shared.metrics, index),
      corrections_(shared.local, loop_.clock()),
      fallback_debts_(corrections_, loop_.clock()),
      checks_(shared.local, loop_.clock(), top_, parts_),
      permit_leases_(loop_.clock()),
      abandoned_checks_(checks_, corrections_, permit_leases_),
      held_(loop_, shared.waiting, shared.metrics.worker(index).requests_waiting),
      awaiting_keys_(loop_, shared.waiting_for_keys, shared.metrics.worker(index).requests_waiting),
      buckets_(shared.local, loop_.clock()),
      view_(resources_.adopt(s)),
      abandoned_(
          loop_,
          corrections_,
          permit_leases_,
          scratch_,
          shared.metrics.worker(index).exchanges_abandoned
      ),
      environment_{
          loop_,
          checks_,
          abandoned_checks_,
          corrections_,
          fallback_debts_,
          permit_leases_,
          held_,
          awaiting_keys_,
          shared.key_fetches,
          abandoned_,
          ids_,
          spare_connections_,
          spare_streams_,
          shared.metrics.worker(index),
          rejections_,
          log_,
          log_enabled_,
          shared.spans,
          view_,
          scratch_,
          ahead_,
          date_,
          [this](client::session& ended_one) { ended(ended_one); },
      }
{
    for (opened_listener& one : listening) {
        const client::listener_options& options = listeners[one.index];
        accept_gates_.emplace_back(*this, std::move(one), options).adopt(s);
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
    for (accept_gate& d : accept_gates_) {
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

void worker::accept_gate::adopt(const snapshot& s)
{
    const auto& fresh = s.listener_tls[index_];
    if (fresh != tls_options_) {
        tls_ = fresh ? net::tls_server::make(*fresh, s.tickets) : nullptr;
        tls_options_ = fresh;
    }
}

// Takes a new connection. Only a trusted proxy is believed when its PROXY header says whose
// connection it is.
void worker::accept_gate::accepted(net::socket s, const std::optional<base::ip_address>& peer)
{
    const limits::policy_view& view = *worker_.view_;
    if (!options_.proxy_protocol) {
        worker_.accepted(*this, std::move(s), peer, {});
    } else if (identity::is_trusted(view.policy->client, address_of(peer))) {
        arrivals_.add(std::move(s), peer, view.http.header_timeout);
    } else {
        static std::atomic_flag warned;
        warn_once(
            warned,
            peer,
            "is not in client.trusted_proxies, and the listener takes connections with a PROXY "
            "header from those only"
        );
        worker_.shared_.metrics.worker(worker_.index_).refused_not_trusted.add();
        worker_.room_unused();
    }
}

void worker::accept_gate::arrived(
    net::socket s,
    const std::optional<base::ip_address>& peer,
    const std::optional<base::connection_ends>& proxied
)
{
    const auto client = proxied ? std::optional{proxied->client.address} : peer;
    worker_.accepted(*this, std::move(s), client, proxied);
}

void worker::accept_gate::turned_away(const std::optional<base::ip_address>& peer)
{
    static std::atomic_flag warned;
    warn_once(warned, peer, "sent no PROXY header, or a malformed one");
    worker_.shared_.metrics.worker(worker_.index_).refused_proxy_header.add();
    worker_.room_unused();
    worker_.end_if_done();
}

// Starts a session, unless its peer has too many. A Unix socket's peer counts against no cap.
void worker::accepted(
    const accept_gate& at,
    net::socket connected,
    const std::optional<base::ip_address>& peer,
    const std::optional<base::connection_ends>& proxied
)
{
    const std::optional<std::uint8_t> prefix = peer ? count_peer(*peer) : 0;
    if (!prefix) {
        shared_.metrics.worker(index_).refused_per_peer.add();
        room_unused();
        return;
    }
    client::session& s =
        sessions_.emplace_back(environment_, std::move(connected), address_of(peer), at.options());
    s.self = std::prev(sessions_.end());
    s.counted_prefix = *prefix;
    if (proxied) {
        s.proxied_ends = std::make_unique<const base::connection_ends>(*proxied);
    }
    if (at.tls() != nullptr) {
        s.expect_handshake(at.tls());
    } else if (at.options().protocols.http2) {
        s.accept_http2();
    }
    s.start();
    if (draining_) {
        s.drain();
    }
}

// Counts a connection of a peer. Returns the length of the prefix under which it is counted, 0 if
// it is not, or nothing if the peer has too many. Addresses in one prefix are one peer, as they are
// one client.
std::optional<std::uint8_t> worker::count_peer(const base::ip_address& peer)
{
    const identity::client_options& client = view_->policy->client;
    if (view_->max_connections_per_peer == 0 || identity::is_trusted(client, peer)) {
        return 0;
    }
    const int length = peer.is_v4() ? client.ipv4_prefix : client.ipv6_prefix;
    const bool entered =
        shared_.peers.enter(peer.masked(length, length), view_->max_connections_per_peer);
    return entered ? std::optional{static_cast<std::uint8_t>(length)} : std::nullopt;
}

void worker::ended(client::session& s)
{
    if (const int length = s.counted_prefix; length > 0) {
        shared_.peers.leave(s.peer().masked(length, length));
    }
    sessions_.erase(s.self);
    room_unused();
    end_if_done();
}

void worker::tick(base::instant now)
{
    log_.flush();
    const base::duration unix_time = base::unix_time();
    date_.refresh(unix_time);
    ids_.set_clock(unix_time, now);
    log_enabled_ = shared_.log.enabled();
    resources_.sweep();
    checks_.trim();
    abandoned_checks_.sweep();
    fallback_debts_.settle();
    corrections_.retry();
    permit_leases_.renew();
    spare_connections_.trim(*view_);
    spare_streams_.trim(*view_);
    if (index_ == 0) {
        shared_.local.set_unix_time(base::unix_time() - base::now().time_since_epoch());
        shared_.local.sweep(now, sweep_passes);
    }
    if (paused_ && !draining_ &&
        shared_.connections.load(std::memory_order_relaxed) < shared_.max_connections) {
        paused_ = false;
        for (accept_gate& d : accept_gates_) {
            d.listener().resume();
        }
    }
    end_if_done();
}

void worker::reload(std::shared_ptr<const snapshot> s)
{
    boost::asio::post(loop_.context(), [this, s = std::move(s)] {
        view_ = resources_.adopt(*s);
        for (accept_gate& d : accept_gates_) {
            d.adopt(*s);
        }
    });
}

void worker::stop_waiting_for_keys()
{
    boost::asio::post(loop_.context(), [this] {
        loop_.refresh_now();
        awaiting_keys_.let_all_go();
    });
}

void worker::drain(net::queued rest)
{
    boost::asio::post(loop_.context(), [this, rest] { begin_drain(rest); });
}

void worker::begin_drain(net::queued rest)
{
    draining_ = true;
    loop_.refresh_now();
    for (accept_gate& d : accept_gates_) {
        d.listener().close(rest);
        d.arrivals().shorten_wait(client::session::drain_grace);
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
        abandoned_.close();
    });
}

bool worker::any_arriving()
{
    return std::any_of(accept_gates_.begin(), accept_gates_.end(), [](accept_gate& d) {
        return !d.arrivals().empty();
    });
}

void worker::ask(std::function<void(worker_access&)> operation)
{
    boost::asio::post(loop_.context(), [this, operation = std::move(operation)] {
        loop_.refresh_now();
        worker_access access{*view_, buckets_, top_, rejections_, loop_.now()};
        operation(access);
    });
}

// Ends the worker once it has drained and nothing is left to do. loop_.stop() cuts nothing off:
// run() returns when nothing is left to wait for.
void worker::end_if_done()
{
    if (draining_ && sessions_.empty() && !any_arriving() && !abandoned_.any_to_finish()) {
        abandoned_.close();
        if (!corrections_until_) {
            corrections_until_ = loop_.now() + last_corrections;
        }
        fallback_debts_.settle();
        const bool settled = resources_.settle_up();
        const bool done =
            settled && abandoned_checks_.empty() && corrections_.idle() && fallback_debts_.idle();
        if (!done && loop_.now() < *corrections_until_) {
            return;  // the tick looks again
        }
        // Otherwise an old view in one of them would keep its store links open.
        spare_connections_.clear();
        spare_streams_.clear();
        fallback_debts_.lose_all();
        corrections_.lose_all();
        resources_.close();
        loop_.stop();
    }
}

}  // namespace gateway::worker
