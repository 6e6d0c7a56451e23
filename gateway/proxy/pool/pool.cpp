#include "gateway/proxy/pool/pool.hpp"

#include <algorithm>
#include <utility>

namespace gateway::proxy {

pool::pool(
    net::loop& l,
    upstream_options options,
    std::shared_ptr<upstream_status> status,
    unsigned short echo_port,
    pool_metrics metrics
)
    : loop_(l),
      options_(std::move(options)),
      metrics_(std::move(metrics)),
      capacity_(options_, std::move(status)),
      names_(loop_, options_, echo_port, [this] { addresses_changed(); }),
      conduct_(loop_.clock(), options_, capacity_, metrics_),
      shelf_(loop_, options_, metrics_),
      shared_(
          loop_,
          options_,
          metrics_,
          [this](auto& on, auto why, auto text) { attempts_.greeted(on, why, text); },
          [this](auto& on) { attempts_.serve_waiting(on); }
      ),
      room_(loop_, options_, metrics_, capacity_.queue(), *this),
      attempts_({loop_, options_, metrics_, names_, conduct_, shelf_, shared_}, *this)
{}

// ---- leases ----------------------------------------------------------------------------------

// Takes a slot at a server that the wish permits. Uses the last resort only if no other has room.
server_capacity::choice pool::take_capacity(const lease_wish& wish)
{
    const std::uint64_t left = names_.addressed() & ~wish.passed_over;
    const std::uint64_t preferred = left & ~wish.last_resort;
    if (preferred != 0 && preferred != left) {
        const server_capacity::choice chosen = capacity_.take(preferred, wish.key, loop_.now());
        if (chosen.is == server_capacity::availability::taken) {
            return chosen;
        }
    }
    return capacity_.take(left, wish.key, loop_.now());
}

void pool::free_capacity(std::size_t server)
{
    metrics_.servers[server]->active.add(-1);
    capacity_.release(server);
}

pool::lease_result pool::lease(pending_lease& l, const lease_wish& wish)
{
    if ((names_.addressed() & ~wish.passed_over) != 0 && capacity_.others_wait()) {
        return wait_for_capacity(l, wish);
    }
    const server_capacity::choice chosen = take_capacity(wish);
    switch (chosen.is) {
        case server_capacity::availability::taken:
            return lease_at(chosen.server, l, wish);
        case server_capacity::availability::full:
            return wait_for_capacity(l, wish);
        case server_capacity::availability::none:
            break;
    }
    if (names_.addressed() == 0 && !names_.all_known()) {
        room_.wait_for_address(l, wish);
        return {};
    }
    return fail(wish.last_failure);
}

// Leases a connection to the server.
// Requires: the lease holds a slot there.
pool::lease_result pool::lease_at(std::size_t server, pending_lease& l, const lease_wish& wish)
{
    metrics_.servers[server]->active.add(1);
    if (upstream_carrier* const c = carrier_at(server, wish)) {
        metrics_.servers[server]->requests.add();
        return {c};
    }
    attempts_.begin(server, l, wish);
    return {};
}

// Returns what there is for a request: an idle connection, or a stream. Null if there is none. A
// fresh connection is one that is surely open where requests share it: the server may have reset a
// stream and nothing else.
upstream_carrier* pool::carrier_at(std::size_t server, const lease_wish& wish)
{
    if (options_.protocol == upstream_protocol::http2) {
        return shared_.open(server, wish);
    }
    return wish.fresh ? nullptr : shelf_.take(server, wish.surely_open, wish.ends);
}

pool::lease_result pool::wait_for_capacity(pending_lease& l, const lease_wish& wish)
{
    return room_.wait_for_capacity(l, wish) ? lease_result{} : fail(failure::queue_full);
}

pool::lease_result pool::fail(failure why)
{
    if (why == failure::no_address) {
        complain_of_names();
    }
    conduct_.count_failure(why);
    return {nullptr, why};
}

void pool::complain_of_names()
{
    for (std::size_t i = 0; i < options_.servers.size(); ++i) {
        if (names_.addresses_of(i).empty()) {
            const std::string& error = names_.error_of(i);
            conduct_.complain(i, error.empty() ? "the resolver has not answered" : error);
        }
    }
}

// Reports a final result to the lease. Does nothing while there is none.
// Requires: what worked on the lease is gone.
void pool::settle(pending_lease& l, const lease_result& result)
{
    if (result.carrier != nullptr) {
        l.leased(*result.carrier);
    } else if (result.failed) {
        l.lease_failed(*result.failed);
    }
}

void pool::release(upstream_carrier& c, answer_port::disposition how)
{
    free_capacity(c.server());
    c.give_back(how, names_.are_at(c.to()));
}

// ---- leases that wait ------------------------------------------------------------------------

void pool::addresses_changed()
{
    const auto is_stale = [this](const upstream_connection& c) { return !names_.are_at(c.to()); };
    shelf_.close_idle_if(is_stale);
    shared_.retire_if(is_stale);
    while (names_.addressed() != 0 || names_.all_known()) {
        waiting_lease* const w = room_.next_without_address();
        if (w == nullptr) {
            return;
        }
        const lease_wish wish = w->wish();
        pending_lease& l = room_.take_out(*w);
        settle(l, lease(l, wish));
    }
}

// Serves a waiting lease if there is a slot for it. Each has a server that it may go to.
void pool::serve(waiting_lease& w)
{
    const lease_wish wish = w.wish();
    const server_capacity::choice chosen = take_capacity(wish);
    if (chosen.is != server_capacity::availability::taken) {
        if (wish.passed_over != 0) {
            // The slot may be at a server that only this request must not use.
            capacity_.queue().wake_next(w);
        }
        return;
    }
    pending_lease& l = room_.take_out(w);
    capacity_.queue().wake_first();  // there may be room for more than one
    settle(l, lease_at(chosen.server, l, wish));
}

void pool::gave_up(pending_lease& l, failure why)
{
    settle(l, fail(why));
}

// ---- connections being made ------------------------------------------------------------------

void pool::lease_connected(pending_lease& l, upstream_carrier& c)
{
    metrics_.servers[c.server()]->requests.add();
    settle(l, {&c});
}

// Looks for another server, as this one could not be connected to.
void pool::server_unreachable(
    pending_lease& l, const lease_wish& wish, std::size_t server, failure why
)
{
    free_capacity(server);
    lease_wish next = wish;
    next.passed_over |= std::uint64_t{1} << server;
    next.last_failure = why;
    next.timeouts += why == failure::connect_timeout ? 1 : 0;
    settle(l, next.timeouts == most_timeouts ? fail(why) : lease(l, next));
}

void pool::lease_turned_away(pending_lease& l, const lease_wish& wish, std::size_t server)
{
    free_capacity(server);
    settle(l, lease(l, wish));
}

// ---- the end ---------------------------------------------------------------------------------

void pool::retire()
{
    shelf_.retire();
    shared_.retire();
}

void pool::close()
{
    retire();
    room_.close();
    attempts_.close();
    shared_.close();
    shelf_.close();
    names_.stop();
}

}  // namespace gateway::proxy
