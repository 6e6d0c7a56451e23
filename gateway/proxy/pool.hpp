// Where the requests of one worker get their connections to one upstream: at the server that is
// chosen for each, an idle one or a new one, at once or after a wait. A server that cannot be
// connected to is passed over for another.
//
// Owned by the worker, used on its thread only. A reload retires it: idle connections are closed at
// once, leased ones when they come back, and empty() tells when it may be destroyed.
#pragma once

#include "gateway/proxy/answer_state.hpp"
#include "gateway/proxy/connect_attempt.hpp"
#include "gateway/proxy/connection_shelf.hpp"
#include "gateway/proxy/options.hpp"
#include "gateway/proxy/pool_metrics.hpp"
#include "gateway/proxy/server_conduct.hpp"
#include "gateway/proxy/servers/places.hpp"
#include "gateway/proxy/servers/server_names.hpp"
#include "gateway/proxy/waiting_room.hpp"

#include <list>
#include <memory>
#include <optional>
#include <vector>

namespace gateway::proxy {

class pool final : private attempt_owner, private room_owner {
public:
    // After so many servers that let connect_timeout pass, a request has waited long enough.
    static constexpr int most_timeouts = 2;

    // `echo_port`: where the built-in echo server listens, for servers that name it.
    pool(
        net::loop& l,
        upstream_options options,
        std::shared_ptr<upstream_status> status,
        unsigned short echo_port,
        pool_metrics metrics
    );
    ~pool() = default;

    // A connection at once; or why there can be none; or neither: then there is exactly one call on
    // `l` later, unless it is abandoned first.
    struct lease_result {
        upstream_connection* connection = nullptr;
        std::optional<failure> failed{};
    };

    lease_result lease(pending_lease& l, const lease_wish& wish);

    // Gives a leased connection back; if it is not reusable it is closed.
    void give_back(upstream_connection& c, bool reusable);
    void give_back(upstream_connection& c, answer_port::disposition how);

    void retire();
    // Retires, and breaks off what is leased or under way.
    void close();

    bool empty() const { return shelf_.empty() && attempts_.empty() && room_.empty(); }

    const upstream_options& options() const { return options_; }

    const server_names& names() const { return names_; }

    // To be told what became of requests.
    server_conduct& conduct() { return conduct_; }

    bool has_several_servers() const { return places_.several(); }

    // Whether the requests at its servers are bounded, so that a leased connection holds a place.
    bool is_bounded() const { return places_.bounded(); }

private:
    net::loop& loop_;
    upstream_options options_;
    pool_metrics metrics_;
    places places_;
    server_names names_;
    server_conduct conduct_;
    connection_shelf shelf_;
    waiting_room room_;
    // [i] is how server i is known; none: without TLS.
    std::vector<std::shared_ptr<net::tls_client>> tls_;
    std::list<connect_attempt> attempts_;
    // How many attempts are abandoned, and are to become idle connections: at most max_idle.
    std::size_t abandoned_ = 0;

    places::choice take_place(const lease_wish& wish);
    void free_place(std::size_t server);
    void end_attempt(connect_attempt& a);
    lease_result lease_at(std::size_t server, pending_lease& l, const lease_wish& wish);
    lease_result wait_for_place(pending_lease& l, const lease_wish& wish);
    lease_result fail(failure why);
    void complain_of_names();
    static void settle(pending_lease& l, const lease_result& result);
    void addresses_changed();

    // room_owner
    void serve(waiting_lease& w) override;
    void gave_up(pending_lease& l, failure why) override;
    // attempt_owner
    void attempt_connected(connect_attempt& a, net::socket connected) override;
    void attempt_succeeded(connect_attempt& a, upstream_connection& c) override;
    void attempt_failed(connect_attempt& a, failure why) override;
    void attempt_ended(connect_attempt& a) override;
    bool keep_abandoned(connect_attempt& a) override;
};

}  // namespace gateway::proxy
