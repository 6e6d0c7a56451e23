#include "gateway/proxy/pool.hpp"

#include "gateway/proxy/server_address.hpp"

#include <algorithm>
#include <utility>

namespace gateway::proxy {

pool::pool(
    net::loop& l,
    upstream_options options,
    std::shared_ptr<upstream_status> status,
    unsigned short echo_port,
    telemetry_blocks metrics
)
    : loop_(l),
      options_(std::move(options)),
      metrics_(std::move(metrics)),
      default_host_(host_of(options_.servers.front().address)),
      places_(options_, std::move(status)),
      retries_(options_.retry_budget),
      mark_(std::make_shared<pool*>(this))
{
    const auto answered = [this] {
        loop_.refresh_now();
        addresses_changed();
    };
    for (const server_options& s : options_.servers) {
        servers_.push_back(known_server{
            to_text(s.address),
            resolved(loop_.get_executor(), s.address, echo_port, options_.resolver, answered)});
    }
    look_at_names();
}

pool::~pool()
{
    *mark_ = nullptr;
}

// ---- names -----------------------------------------------------------------------------------

void pool::look_at_names()
{
    names_known_ = true;
    for (std::size_t i = 0; i < servers_.size(); ++i) {
        names_known_ = names_known_ && servers_[i].name.known();
        if (!servers_[i].name.endpoints().empty()) {
            addressed_ |= std::uint64_t{1} << i;
        }
    }
}

void pool::addresses_changed()
{
    look_at_names();
    while (addressed_ != 0 || names_known_) {
        const auto w = std::find_if(waiting_.begin(), waiting_.end(), [](const waiting_lease& l) {
            return !l.is_queued();
        });
        if (w == waiting_.end()) {
            return;
        }
        pending_lease& l = *w->lease();
        const lease_wish wish = w->wish();
        waiting_ended(*w);
        settle(l, lease(l, wish));
    }
}

// ---- leases ----------------------------------------------------------------------------------

// A place at a server that the wish leaves; at one of the last resort only if no other has room.
places::choice pool::take_place(const lease_wish& wish)
{
    const std::uint64_t left = addressed_ & ~wish.passed_over;
    const std::uint64_t preferred = left & ~wish.last_resort;
    if (preferred != 0 && preferred != left) {
        const places::choice chosen = places_.take(preferred, wish.key, loop_.now());
        if (chosen.is == places::availability::taken) {
            return chosen;
        }
    }
    return places_.take(left, wish.key, loop_.now());
}

pool::lease_result pool::lease(pending_lease& l, const lease_wish& wish)
{
    if ((addressed_ & ~wish.passed_over) != 0 && places_.others_wait()) {
        return wait_for_place(l, wish);
    }
    const places::choice chosen = take_place(wish);
    switch (chosen.is) {
        case places::availability::taken:
            return lease_at(chosen.server, l, wish);
        case places::availability::full:
            return wait_for_place(l, wish);
        case places::availability::none:
            break;
    }
    if (addressed_ == 0 && !names_known_) {
        waiting_lease& w = waiting_.emplace_back(*this, l, wish);
        w.self = std::prev(waiting_.end());
        w.wait_for_address();
        return {};
    }
    count_failure(wish.last_failure);
    return {nullptr, wish.last_failure};
}

// Where it has a place.
pool::lease_result pool::lease_at(std::size_t server, pending_lease& l, const lease_wish& wish)
{
    metrics_.servers[server]->active.add(1);
    if (!wish.fresh) {
        if (upstream_connection* const c = take_idle(server, wish.surely_open)) {
            return {c};
        }
    }
    connect_attempt& a = attempts_.emplace_back(*this, l, server, wish);
    a.self = std::prev(attempts_.end());
    a.proceed();
    return {};
}

pool::lease_result pool::wait_for_place(pending_lease& l, const lease_wish& wish)
{
    waiting_lease& w = waiting_.emplace_back(*this, l, wish);
    w.self = std::prev(waiting_.end());
    if (!w.enter_queue()) {
        l.comes_from(nullptr);
        waiting_.erase(w.self);
        count_failure(failure::queue_full);
        return {nullptr, failure::queue_full};
    }
    metrics_.upstream.queued.add(1);
    queue().wake_first();  // a place may have become free since we looked
    return {};
}

// What worked on the lease is gone.
void pool::settle(pending_lease& l, const lease_result& answer)
{
    if (answer.connection != nullptr) {
        l.leased(*answer.connection);
    } else if (answer.failed) {
        l.lease_failed(*answer.failed);
    }
}

void pool::free_place(std::size_t server)
{
    metrics_.servers[server]->active.add(-1);
    places_.give_back(server);
}

bool pool::take_retry(bool reused)
{
    const bool permitted = retries_.take_retry(loop_.now(), reused);
    (permitted ? metrics_.upstream.retries : metrics_.upstream.retries_refused).add();
    return permitted;
}

// ---- leases that wait --------------------------------------------------------------------------

// One call for each entry of ours that was woken.
void pool::serve_woken()
{
    loop_.refresh_now();
    const auto w = std::find_if(waiting_.begin(), waiting_.end(), [this](waiting_lease& l) {
        return l.is_queued() && queue().take_wake_up(l);
    });
    if (w != waiting_.end()) {
        serve(*w);
    }  // else it has left, and another was woken instead
}

// If there is a place for it. Who waits in the queue has a server that it may go to.
void pool::serve(waiting_lease& w)
{
    const lease_wish wish = w.wish();
    const places::choice chosen = take_place(wish);
    if (chosen.is != places::availability::taken) {
        if (wish.passed_over != 0) {
            queue().wake_next(w);  // the place may be at a server that only this one must not use
        }
        return;
    }
    pending_lease& l = *w.lease();
    waiting_ended(w);
    queue().wake_first();  // there may be room for more than one
    settle(l, lease_at(chosen.server, l, wish));
}

void pool::waited_too_long(waiting_lease& w)
{
    const failure why = w.is_queued() ? failure::queue_timeout : failure::no_address;
    pending_lease& l = *w.lease();
    waiting_ended(w);
    count_failure(why);
    settle(l, {nullptr, why});
}

void pool::waiting_ended(waiting_lease& w)
{
    w.lease()->comes_from(nullptr);
    if (w.is_queued()) {
        metrics_.upstream.queued.add(-1);
        w.leave_queue();
    }
    waiting_.erase(w.self);
}

// ---- connections being made ------------------------------------------------------------------

void pool::attempt_succeeded(connect_attempt& a, net::socket connected)
{
    upstream_connection& c = adopt(std::move(connected), a.server());
    pending_lease* const l = a.lease();
    attempts_.erase(a.self);
    if (l == nullptr) {
        --abandoned_;
        keep_or_close(c, true);
        return;
    }
    l->comes_from(nullptr);
    if (c.closed()) {  // it cannot be watched, for want of something of our own
        give_back(c, false);
        count_failure(failure::connect);
        settle(*l, {nullptr, failure::connect});
        return;
    }
    metrics_.servers[c.server()]->requests.add();
    settle(*l, {&c});
}

void pool::attempt_failed(connect_attempt& a, failure why)
{
    pending_lease* const l = a.lease();
    const std::size_t server = a.server();
    lease_wish wish = a.wish();
    if (!a.was_short()) {
        blame(server);
    }
    attempts_.erase(a.self);
    if (l == nullptr) {
        --abandoned_;
        count_failure(why);
        return;
    }
    l->comes_from(nullptr);
    free_place(server);
    wish.passed_over |= std::uint64_t{1} << server;
    wish.last_failure = why;
    wish.timeouts += why == failure::connect_timeout ? 1 : 0;
    if (wish.timeouts == most_timeouts) {
        count_failure(why);
        settle(*l, {nullptr, why});
    } else {
        settle(*l, lease(*l, wish));
    }
}

void pool::attempt_ended(connect_attempt& a)
{
    attempts_.erase(a.self);
}

bool pool::keep_abandoned(connect_attempt& a)
{
    free_place(a.server());
    if (retired_ || abandoned_ >= options_.max_idle) {
        return false;
    }
    ++abandoned_;
    return true;
}

// ---- connections -----------------------------------------------------------------------------

upstream_connection* pool::take_idle(std::size_t server, bool surely_open)
{
    auto& idle = servers_[server].idle;
    while (!idle.empty()) {
        upstream_connection* const c = idle.back();
        if (surely_open && !c->is_quiet()) {
            idle_connection_ended(*c);
            continue;
        }
        idle.pop_back();
        loop_.wheel().disarm(*c);
        metrics_.worker.upstreams_idle.add(-1);
        metrics_.worker.upstreams_active.add(1);
        metrics_.servers[server]->idle.add(-1);
        metrics_.servers[server]->requests.add();
        return c;
    }
    return nullptr;
}

upstream_connection& pool::adopt(net::socket connected, std::size_t server)
{
    connected.send_without_delay();
    upstream_connection& c = connections_.emplace_back(loop_, std::move(connected), *this, server);
    c.self_ = std::prev(connections_.end());
    metrics_.worker.upstreams_active.add(1);
    return c;
}

void pool::give_back(upstream_connection& c, bool reusable)
{
    free_place(c.server());
    c.mark_reused();
    keep_or_close(c, reusable);
}

void pool::keep_or_close(upstream_connection& c, bool reusable)
{
    c.lease_to(nullptr);
    c.send_gathered();  // so that sending() tells whether the server has taken all
    metrics_.worker.upstreams_active.add(-1);
    auto& idle = servers_[c.server()].idle;
    const bool good = reusable && !c.closed() && !c.sending() && !c.has_news();
    if (!good || retired_ || idle.size() >= options_.max_idle) {
        c.close();
        return;
    }
    idle.push_back(&c);
    loop_.wheel().arm(c, loop_.now() + options_.idle_timeout);
    metrics_.worker.upstreams_idle.add(1);
    metrics_.servers[c.server()]->idle.add(1);
    c.want_read();
}

void pool::idle_connection_ended(upstream_connection& c)
{
    auto& idle = servers_[c.server()].idle;
    const auto at = std::find(idle.begin(), idle.end(), &c);
    if (at != idle.end()) {
        idle.erase(at);
        metrics_.worker.upstreams_idle.add(-1);
        metrics_.servers[c.server()]->idle.add(-1);
    }
    c.close();
}

void pool::connection_released(upstream_connection& c)
{
    connections_.erase(c.self_);
}

// ---- the end ---------------------------------------------------------------------------------

void pool::retire()
{
    retired_ = true;
    for (known_server& s : servers_) {
        while (!s.idle.empty()) {
            idle_connection_ended(*s.idle.back());
        }
    }
}

void pool::close()
{
    retire();
    while (!waiting_.empty()) {
        waiting_.front().lease()->abandon();
    }
    for (auto a = attempts_.begin(); a != attempts_.end();) {
        connect_attempt& each = *a++;
        if (each.lease() != nullptr) {
            each.lease()->abandon();  // which cancels, now that it is retired
        } else {
            each.cancel();
        }
    }
    for (upstream_connection& c : connections_) {
        c.close();
    }
    for (known_server& s : servers_) {
        s.name.stop();
    }
}

}  // namespace gateway::proxy
