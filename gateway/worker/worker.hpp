// `worker` is one thread and what it owns: event loop, listeners, sessions, pools, store links,
// counters, log. Workers share the local store, the status of each upstream and the count of peers.
// A plain request takes no lock of theirs but the store's.
//
// Thread: built and destroyed on the main thread; everything in between happens on its own.
// Functions marked [any thread] post there.
#pragma once

#include "gateway/client/carrier_pool.hpp"
#include "gateway/client/peer_count.hpp"
#include "gateway/client/requests/abandoned_exchanges.hpp"
#include "gateway/client/requests/id_source.hpp"
#include "gateway/client/session.hpp"
#include "gateway/limits/checks/abandoned_checks.hpp"
#include "gateway/limits/checks/check_pool.hpp"
#include "gateway/limits/held_requests.hpp"
#include "gateway/limits/key_fetches.hpp"
#include "gateway/limits/reservations/corrections.hpp"
#include "gateway/limits/reservations/fallback_debts.hpp"
#include "gateway/limits/reservations/permit_leases.hpp"
#include "gateway/net/listener.hpp"
#include "gateway/net/loop.hpp"
#include "gateway/net/proxied_arrivals.hpp"
#include "gateway/store/memory/memory_store.hpp"
#include "gateway/telemetry/access_log.hpp"
#include "gateway/worker/resources.hpp"
#include "gateway/worker/worker_access.hpp"

#include <atomic>
#include <list>
#include <memory>
#include <thread>
#include <vector>

namespace gateway::worker {

// `shared_state` is what all workers share.
struct shared_state {
    store::memory_store& local;
    telemetry::registry& metrics;
    telemetry::access_log_writer& log;
    tracing::span_queue& spans;
    std::size_t max_connections;
    std::atomic<std::size_t> connections{0};
    client::peer_count peers{};
    // Number of requests that wait for their tokens, and of those that wait for keys.
    std::atomic<std::size_t> waiting{0};
    std::atomic<std::size_t> waiting_for_keys{0};
    limits::key_fetches key_fetches{};
};

// A listening socket of listeners[index], which may have several.
struct opened_listener {
    std::size_t index;
    net::socket socket;
};

class worker final {
public:
    // Time that a worker which has drained waits for its last corrections.
    static constexpr base::duration last_corrections = std::chrono::seconds{1};

    // About the number of ticks that a full pass over the local table takes, which forgets full
    // buckets. They are 10 s in all.
    static constexpr std::size_t sweep_passes = 400;

    worker(
        shared_state& shared,
        std::size_t index,
        const snapshot& s,
        const std::vector<client::listener_options>& listeners,
        std::vector<opened_listener> listening
    );

    // Ends the thread if it still runs, and joins it.
    ~worker();

    // Starts the listeners and the thread, which calls `finished` when it has nothing left to do.
    void start(std::function<void()> finished);

    // [any thread] Adopts a new configuration.
    void reload(std::shared_ptr<const snapshot> s);

    // [any thread] Lets requests go on that wait for keys. A configuration with other keys comes
    // before, by reload().
    void stop_waiting_for_keys();

    // [any thread] Stops accepting, finishes what runs, then ends.
    void drain(net::queued rest = net::queued::accepted);

    // [any thread] Ends now. Only corrections on their way have one more second.
    void abort();

    // [any thread] Calls `operation` on the worker's thread, unless that has ended.
    void ask(std::function<void(worker_access&)> operation);

private:
    // `accept_gate` is a listener, with the TLS options of its connections and what they are for.
    class accept_gate final : private net::acceptor_owner, private net::arrivals_owner {
    public:
        accept_gate(worker& of, opened_listener listening, const client::listener_options& options)
            : worker_(of),
              index_(listening.index),
              options_(options),
              arrivals_(of.loop_, *this),
              listener_(of.loop_, std::move(listening.socket), *this)
        {}

        // Adopts what the configuration says of TLS now. Connections that are open keep theirs.
        void adopt(const snapshot& s);

        net::listener& listener() { return listener_; }

        // Returns the options that it was opened with, of which those of TLS may have changed.
        const client::listener_options& options() const { return options_; }

        const std::shared_ptr<net::tls_server>& tls() const { return tls_; }

        // Returns the connections whose PROXY header has not come yet.
        net::proxied_arrivals& arrivals() { return arrivals_; }

    private:
        worker& worker_;
        const std::size_t index_;
        std::optional<net::tls_server_options> tls_options_;
        // Null if connections are plain.
        std::shared_ptr<net::tls_server> tls_;
        const client::listener_options options_;
        net::proxied_arrivals arrivals_;
        net::listener listener_;

        bool make_room() override { return worker_.make_room(); }

        void room_unused() override { worker_.room_unused(); }

        void accepted(net::socket s, const std::optional<base::ip_address>& peer) override;
        void arrived(
            net::socket s,
            const std::optional<base::ip_address>& peer,
            const std::optional<base::connection_ends>& proxied
        ) override;
        void turned_away(const std::optional<base::ip_address>& peer) override;
    };

    shared_state& shared_;
    std::size_t index_;
    net::loop loop_;
    telemetry::access_log log_;
    bool log_enabled_;
    resources resources_;
    limits::top_buckets top_;
    limits::recent_rejections rejections_;
    limits::bucket_parts parts_;
    limits::corrections corrections_;
    limits::fallback_debts fallback_debts_;
    limits::check_pool checks_;
    limits::permit_leases permit_leases_;
    limits::abandoned_checks abandoned_checks_;
    limits::held_requests held_;
    limits::held_requests awaiting_keys_;
    client::id_source ids_{base::unix_time(), base::now()};
    limits::bucket_operations buckets_;
    client::http1_pool spare_connections_;
    client::http2_pool spare_streams_;
    std::shared_ptr<const limits::policy_view> view_;
    limits::scratch scratch_;
    client::ahead_memory ahead_;
    http::http_date date_{base::unix_time()};
    client::abandoned_exchanges abandoned_;
    client::session_environment environment_;
    std::list<client::session> sessions_;
    std::list<accept_gate> accept_gates_;
    // True while the listeners wait for room.
    bool paused_ = false;

    bool draining_ = false;
    // Moment until which corrections may still be made, set once no session is left.
    std::optional<base::instant> corrections_until_;
    std::thread thread_;

    bool make_room();
    void room_unused();
    void accepted(
        const accept_gate& at,
        net::socket connected,
        const std::optional<base::ip_address>& peer,
        const std::optional<base::connection_ends>& proxied
    );
    std::optional<std::uint8_t> count_peer(const base::ip_address& peer);
    void ended(client::session& s);
    void tick(base::instant now);
    void begin_drain(net::queued rest);
    bool any_arriving();
    void end_if_done();
};

}  // namespace gateway::worker
