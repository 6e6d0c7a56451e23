#include "gateway/proxy/pool/connect_attempts.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

namespace gateway::proxy {

namespace {

constexpr const char* unwatched = "the connection cannot be watched, for want of memory";

}  // namespace

connect_attempts::connect_attempts(const surroundings& in, attempts_owner& owner)
    : in_(in), owner_(owner), expected_(in.options.servers.size(), in.options.max_streams)
{
    for (const server_options& s : in_.options.servers) {
        if (in_.options.tls) {
            tls_.push_back(net::tls_client::make(*in_.options.tls, s.address.host));
        }
    }
}

void connect_attempts::begin(std::size_t server, pending_lease& l, const lease_wish& wish)
{
    if (connect_attempt* const other = speaks_http2() ? attempt_to(server, wish) : nullptr) {
        other->others().join(l, wish, [this, server] { owner_.lease_left(server); });
        return;
    }
    attempt_owner& self = *this;
    const attempt_target to{
        in_.loop, in_.names, server, in_.options.connect_timeout, speaks_http2()};
    connect_attempt& a = all_.emplace_back(self, to, l, wish);
    a.self = std::prev(all_.end());
    a.proceed();
}

// Returns an attempt whose connection will have room for another request, or null.
connect_attempt* connect_attempts::attempt_to(std::size_t server, const lease_wish& wish)
{
    for (connect_attempt& a : all_) {
        if (a.server() == server && a.wish().ends == wish.ends && !a.is_cancelled() &&
            a.others().size() + 1 < expected_[server]) {
            return &a;
        }
    }
    return nullptr;
}

// ---- a connection is there -------------------------------------------------------------------

void connect_attempts::attempt_connected(connect_attempt& a, net::socket connected)
{
    upstream_connection& c =
        in_.shelf.add(std::move(connected), {a.server(), a.address()}, a.wish().ends);
    if (tls_.empty() || c.closed()) {
        attempt_succeeded(a, c);
    } else {
        a.shake_hands(c, net::tls_client::connect(tls_[a.server()]));
    }
}

void connect_attempts::attempt_succeeded(connect_attempt& a, upstream_connection& c)
{
    if (c.tls() != nullptr) {
        telemetry::upstream_metrics& counts = in_.metrics.upstream;
        (c.tls()->resumed() ? counts.tls_resumed : counts.tls_full).add();
    }
    if (c.closed()) {
        in_.shelf.put_back(c, false);
        in_.conduct.complain(a.server(), unwatched);
        remove(a, failure::connect);
        return;
    }
    if (speaks_http2()) {
        share(a, c);
        return;
    }
    pending_lease* const l = a.lease();
    all_.erase(a.self);
    if (l == nullptr) {
        --abandoned_;
        in_.shelf.put_back(c, in_.names.are_at(c.to()));
        return;
    }
    l->comes_from(nullptr);
    owner_.lease_connected(*l, c);
}

// Begins to speak HTTP/2 on `c`. The attempt waits for the server's greeting.
void connect_attempts::share(connect_attempt& a, upstream_connection& c)
{
    multiplexed_connection& shared = in_.shared.add(c);
    a.await_greeting(shared);
    const std::string early = a.early();
    shared.start(early);  // may end the attempt
}

void connect_attempts::greeted(
    multiplexed_connection& on, std::optional<failure> why, std::string_view complaint
)
{
    const auto waits = [&on](const connect_attempt& a) { return a.greeting() == &on; };
    const auto found = std::find_if(all_.begin(), all_.end(), waits);
    if (found == all_.end()) {
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
void connect_attempts::serve(connect_attempt& a, multiplexed_connection& shared)
{
    pending_lease* const first = a.lease();
    const std::size_t server = a.server();
    const lease_wish first_wish = a.wish();
    std::list<joined_lease> others;
    a.others().take_out(others);
    all_.erase(a.self);
    expected_[server] = shared.most_requests();
    if (first == nullptr) {
        --abandoned_;
    } else if (!give(*first, shared)) {
        in_.conduct.complain(server, "HTTP/2: the server takes no request");
        in_.conduct.was_unreachable(server);
        first->comes_from(nullptr);
        owner_.server_unreachable(*first, first_wish, server, failure::connect);
    }
    joined_leases::take_each(others, [&](pending_lease& l, const lease_wish& wish) {
        if (!give(l, shared)) {
            l.comes_from(nullptr);
            owner_.lease_turned_away(l, wish, server);
        }
    });
}

// Returns false if the connection has no room.
bool connect_attempts::give(pending_lease& l, multiplexed_connection& shared)
{
    upstream_stream* const s = shared.open();
    if (s != nullptr) {
        l.comes_from(nullptr);
        owner_.lease_connected(l, *s);
    }
    return s != nullptr;
}

// An attempt that nobody waits for any more may end, or be for the next request.
void connect_attempts::serve_waiting(multiplexed_connection& shared)
{
    const upstream_connection& c = *shared.connection();
    const auto waits = [&c](connect_attempt& a) {
        const bool fits = a.server() == c.server() && a.wish().ends == c.client_ends();
        return fits && (a.lease() != nullptr || a.others().size() > 0);
    };
    auto found = all_.end();
    while ((found = std::find_if(all_.begin(), all_.end(), waits)) != all_.end()) {
        upstream_stream* const s = shared.open();
        if (s == nullptr) {
            return;
        }
        pending_lease* const first = found->take_lease();
        pending_lease& served = first != nullptr ? *first : found->others().take_first();
        if (first != nullptr && !has_use_for_another() && found->others().size() == 0) {
            found->cancel();
        } else {
            abandoned_ += first != nullptr ? 1 : 0;
        }
        served.comes_from(nullptr);
        owner_.lease_connected(served, *s);
    }
}

// ---- there is none ---------------------------------------------------------------------------

void connect_attempts::attempt_failed(connect_attempt& a, failure why)
{
    const std::size_t server = a.server();
    if (a.connection() != nullptr) {
        in_.metrics.upstream.tls_failed.add();
        tls_[server]->forget_session();
    }
    in_.conduct.complain(server, a.complaint());
    if (!a.was_short()) {
        in_.conduct.was_unreachable(server);
    }
    remove(a, why);
}

// Removes the attempt, and tells those that wait for it why.
void connect_attempts::remove(connect_attempt& a, failure why)
{
    pending_lease* const l = a.lease();
    const std::size_t server = a.server();
    const lease_wish wish = a.wish();
    std::list<joined_lease> others;
    a.others().take_out(others);
    attempt_ended(a);
    if (l == nullptr) {
        --abandoned_;
        in_.conduct.count_failure(why);
    } else {
        l->comes_from(nullptr);
        owner_.server_unreachable(*l, wish, server, why);
    }
    joined_leases::take_each(others, [&](pending_lease& other, const lease_wish& its_wish) {
        other.comes_from(nullptr);
        lease_wish again = its_wish;
        if (why == failure::connect_timeout && again.timeouts++ == 0) {
            owner_.lease_turned_away(other, again, server);  // It has waited for less than that.
        } else {
            owner_.server_unreachable(other, its_wish, server, why);
        }
    });
}

void connect_attempts::attempt_ended(connect_attempt& a)
{
    if (a.connection() != nullptr) {
        in_.shelf.put_back(*a.connection(), false);
    }
    if (a.greeting() != nullptr) {
        a.greeting()->close();
    }
    all_.erase(a.self);
}

bool connect_attempts::has_use_for_another() const
{
    return !in_.shelf.retired() && abandoned_ < in_.options.max_idle;
}

bool connect_attempts::keep_abandoned(connect_attempt& a)
{
    owner_.lease_left(a.server());
    if (a.others().size() == 0 && !has_use_for_another()) {
        return false;
    }
    ++abandoned_;
    return true;
}

void connect_attempts::close()
{
    for (auto a = all_.begin(); a != all_.end();) {
        connect_attempt& each = *a++;
        each.others().abandon();
        if (each.lease() != nullptr) {
            each.lease()->abandon();  // cancels the attempt, as the shelf is retired
        } else {
            each.cancel();
        }
    }
}

}  // namespace gateway::proxy
