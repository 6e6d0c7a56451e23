// `abandoned_exchanges` keeps the exchanges of a worker whose clients have left or were answered by
// the gateway, each with its connection and its permits, until the server is done with the request.
// Thread: one thread only.
#pragma once

#include "gateway/content/usage_reader.hpp"
#include "gateway/http/grpc/grpc_response.hpp"
#include "gateway/limits/policy_view.hpp"
#include "gateway/limits/reservations/reservation.hpp"
#include "gateway/limits/scratch.hpp"
#include "gateway/net/loop.hpp"
#include "gateway/proxy/abandoned_state.hpp"
#include "gateway/proxy/pool/pool.hpp"
#include "gateway/telemetry/metrics.hpp"

#include <list>
#include <memory>

namespace gateway::limits {

class corrections;
class permit_leases;

}  // namespace gateway::limits

namespace gateway::client {

// `abandoned_request` is what remains of the request of such an exchange.
struct abandoned_request {
    // The view keeps the policy, the pool and the stores alive.
    std::shared_ptr<const limits::policy_view> view;
    const policy::route& route;
    proxy::pool& pool;
    proxy::upstream_carrier& carrier;
    // True if it holds a permit, of a limit or at its server.
    bool holds_permit = false;
    // Its permits, and the charges that its response may still correct.
    limits::reservation reserved;
    // The response so far. It matters only if the request is gRPC, which `reserved` knows.
    http::grpc_response grpc;
    // Reads what the content of the response says of the cost; null: nobody does.
    std::unique_ptr<content::usage_reader> usage;
    // Bytes of the request's content.
    std::uint64_t request_bytes = 0;
    proxy::abandon_until until;
    // Longest time that it may still take.
    base::duration time;
    // Moment at which a part of the request was last sent.
    base::instant sent_at;
};

class abandoned_exchanges {
    class exchange;

public:
    // Most exchanges, which hold a descriptor each. One more is closed at once, which frees its
    // permits.
    static constexpr std::size_t most = 1024;
    // Most exchanges that hold no permit, so that there is room for those that do.
    static constexpr std::size_t most_without_permit = most / 2;

    // Ownership: all arguments outlive this object.
    abandoned_exchanges(
        net::loop& l,
        limits::corrections& make,
        limits::permit_leases& leases,
        limits::scratch& memory,
        telemetry::gauge& count
    );
    ~abandoned_exchanges();

    bool has_room(bool holds_permit) const;

    // Requires: has_room().
    void keep(abandoned_request of, proxy::answer_state&& answer);

    // True if a drain has to wait for an exchange.
    bool any_to_finish() const;

    // Closes all, and releases their permits.
    void close();

private:
    net::loop& loop_;
    limits::corrections& corrections_;
    limits::permit_leases& permit_leases_;
    limits::scratch& scratch_;
    telemetry::gauge& count_;
    std::list<exchange> all_;
    std::size_t without_permit_ = 0;

    void remove(exchange& e);
};

}  // namespace gateway::client
