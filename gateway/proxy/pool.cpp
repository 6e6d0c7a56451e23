#include "gateway/proxy/pool.hpp"

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
          [this](auto& on, auto why, auto text) { greeted(on, why, text); }
      ),
      room_(loop_, options_, metrics_, capacity_.queue(), *this)
{
    for (const server_options& s : options_.servers) {
        if (options_.tls) {
            tls_.push_back(net::tls_client::make(*options_.tls, s.address.host));
        }
    }
}

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
    if (connect_attempt* const other = speaks_http2() ? attempt_to(server, wish) : nullptr) {
        other->others().join(l, wish, [this, server] { free_capacity(server); });
        return {};
    }
    attempt_owner& owner = *this;
    const attempt_target to{loop_, names_, server, options_.connect_timeout, speaks_http2()};
    connect_attempt& a = attempts_.emplace_back(owner, to, l, wish);
    a.self = std::prev(attempts_.end());
    a.proceed();
    return {};
}

// Returns what there is for a request: an idle connection, or a stream. Null if there is none. A
// fresh connection is one that is surely open where requests share it: the server may have reset a
// stream and nothing else.
upstream_carrier* pool::carrier_at(std::size_t server, const lease_wish& wish)
{
    if (speaks_http2()) {
        return shared_.open(server, wish);
    }
    return wish.fresh ? nullptr : shelf_.take(server, wish.surely_open, wish.ends);
}

// Returns an attempt whose connection will have room for another request, or null.
connect_attempt* pool::attempt_to(std::size_t server, const lease_wish& wish)
{
    for (connect_attempt& a : attempts_) {
        if (a.server() == server && a.wish().ends == wish.ends && !a.is_cancelled() &&
            a.others().size() + 1 < options_.max_streams) {
            return &a;
        }
    }
    return nullptr;
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

void pool::attempt_connected(connect_attempt& a, net::socket connected)
{
    upstream_connection& c =
        shelf_.add(std::move(connected), {a.server(), a.address()}, a.wish().ends);
    if (tls_.empty() || c.closed()) {
        attempt_succeeded(a, c);
    } else {
        a.shake_hands(c, net::tls_client::connect(tls_[a.server()]));
    }
}

void pool::attempt_succeeded(connect_attempt& a, upstream_connection& c)
{
    if (c.tls() != nullptr) {
        (c.tls()->resumed() ? metrics_.upstream.tls_resumed : metrics_.upstream.tls_full).add();
    }
    if (speaks_http2()) {
        share(a, c);
        return;
    }
    pending_lease* const l = a.lease();
    attempts_.erase(a.self);
    if (l == nullptr) {
        --abandoned_;
        shelf_.put_back(c, names_.are_at(c.to()));
        return;
    }
    l->comes_from(nullptr);
    if (c.closed()) {
        conduct_.complain(c.server(), "the connection cannot be watched, for want of memory");
        release(c, answer_port::disposition::close);
        settle(*l, fail(failure::connect));
        return;
    }
    metrics_.servers[c.server()]->requests.add();
    settle(*l, {&c});
}

// Begins to speak HTTP/2 on `c`. The attempt waits for the server's greeting.
void pool::share(connect_attempt& a, upstream_connection& c)
{
    if (c.closed()) {
        shelf_.put_back(c, false);
        a.complain("the connection cannot be watched, for want of memory");
        attempt_failed(a, failure::connect);
        return;
    }
    multiplexed_connection& shared = shared_.add(c);
    a.await_greeting(shared);
    const std::string early = a.early();
    shared.start(early);  // may end the attempt
}

// Ends the attempt that waits for the greeting on this connection, if it still does.
void pool::greeted(
    multiplexed_connection& on, std::optional<failure> why, std::string_view complaint
)
{
    const auto waits = [&on](const connect_attempt& a) { return a.greeting() == &on; };
    const auto found = std::find_if(attempts_.begin(), attempts_.end(), waits);
    if (found == attempts_.end()) {
        return;
    }
    if (why) {
        found->complain(std::string(complaint));
        attempt_failed(*found, *why);
    } else {
        serve(*found, on);
    }
}

// Gives streams of the connection to those that wait for it. One for which it has no room looks for
// another.
void pool::serve(connect_attempt& a, multiplexed_connection& shared)
{
    pending_lease* const first = a.lease();
    const std::size_t server = a.server();
    const lease_wish first_wish = a.wish();
    std::list<joined_lease> others;
    a.others().take_out(others);
    attempts_.erase(a.self);
    const auto give = [&](pending_lease& l) {
        upstream_stream* const s = shared.open();
        if (s != nullptr) {
            l.comes_from(nullptr);
            metrics_.servers[server]->requests.add();
            settle(l, {s});
        }
        return s != nullptr;
    };
    if (first == nullptr) {
        --abandoned_;
    } else if (!give(*first)) {
        conduct_.complain(server, "HTTP/2: the server takes no request");
        fail_over(*first, first_wish, server, failure::connect);
    }
    joined_leases::take_each(others, [&](pending_lease& l, const lease_wish& wish) {
        if (!give(l)) {
            l.comes_from(nullptr);
            free_capacity(server);
            settle(l, lease(l, wish));
        }
    });
}

void pool::attempt_failed(connect_attempt& a, failure why)
{
    pending_lease* const l = a.lease();
    const std::size_t server = a.server();
    const lease_wish wish = a.wish();
    std::list<joined_lease> others;
    a.others().take_out(others);
    if (a.connection() != nullptr) {
        metrics_.upstream.tls_failed.add();
        tls_[server]->forget_session();
    }
    conduct_.complain(server, a.complaint());
    if (!a.was_short()) {
        conduct_.was_unreachable(server);
    }
    end_attempt(a);
    if (l == nullptr) {
        --abandoned_;
        conduct_.count_failure(why);
    } else {
        fail_over(*l, wish, server, why);
    }
    joined_leases::take_each(others, [&](pending_lease& other, const lease_wish& its_wish) {
        fail_over(other, its_wish, server, why);
    });
}

// Looks for another server, as this one could not be connected to.
void pool::fail_over(pending_lease& l, lease_wish wish, std::size_t server, failure why)
{
    l.comes_from(nullptr);
    free_capacity(server);
    wish.passed_over |= std::uint64_t{1} << server;
    wish.last_failure = why;
    wish.timeouts += why == failure::connect_timeout ? 1 : 0;
    settle(l, wish.timeouts == most_timeouts ? fail(why) : lease(l, wish));
}

void pool::attempt_ended(connect_attempt& a)
{
    end_attempt(a);
}

void pool::end_attempt(connect_attempt& a)
{
    if (a.connection() != nullptr) {
        shelf_.put_back(*a.connection(), false);
    }
    if (a.greeting() != nullptr) {
        a.greeting()->close();
    }
    attempts_.erase(a.self);
}

bool pool::keep_abandoned(connect_attempt& a)
{
    free_capacity(a.server());
    const bool has_others = a.others().size() > 0;
    if (!has_others && (shelf_.retired() || abandoned_ >= options_.max_idle)) {
        return false;
    }
    ++abandoned_;
    return true;
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
    for (auto a = attempts_.begin(); a != attempts_.end();) {
        connect_attempt& each = *a++;
        each.others().abandon();
        if (each.lease() != nullptr) {
            each.lease()->abandon();  // cancels the attempt, as the pool is retired
        } else {
            each.cancel();
        }
    }
    shared_.close();
    shelf_.close();
    names_.stop();
}

}  // namespace gateway::proxy
