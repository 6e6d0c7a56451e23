#include "gateway/proxy/pool/connect_attempt.hpp"

#include "gateway/base/quantity.hpp"
#include "gateway/net/shortage.hpp"
#include "gateway/net/tcp_endpoint.hpp"

#include <utility>

namespace gateway::proxy {

connect_attempt::connect_attempt(
    attempt_owner& owner, const attempt_target& to, pending_lease& lease, const lease_wish& wish
)
    : owner_(owner),
      to_(to),
      lease_(&lease),
      wish_(wish),
      next_address_(to.names.next_turn(to.server)),
      addresses_left_(to.names.addresses_of(to.server).size())
{
    lease.comes_from(this);
    to.loop.wheel().arm(*this, to.loop.now() + to.timeout);
}

connect_attempt::~connect_attempt() = default;

void connect_attempt::proceed()
{
    if (addresses_left_ == 0) {
        owner_.attempt_failed(*this, failure::connect);
        return;
    }
    --addresses_left_;
    const auto addresses = to_.names.addresses_of(to_.server);  // there may be fewer by now
    address_ = addresses[next_address_++ % addresses.size()];
    socket_.emplace(to_.loop.get_executor());
    socket_->async_connect(address_, [this](const boost::system::error_code& ec) {
        to_.loop.refresh_now();
        connected(ec);
    });
}

void connect_attempt::connected(const boost::system::error_code& ec)
{
    if (cancelled_) {
        owner_.attempt_ended(*this);
    } else if (timed_out_) {
        complain("no connection within connect_timeout, " + base::format_duration(to_.timeout));
        owner_.attempt_failed(*this, failure::connect_timeout);
    } else if (ec) {
        was_short_ = was_short_ || net::is_our_shortage(ec);
        complain(ec.message());
        socket_.reset();
        proceed();
    } else {
        owner_.attempt_connected(*this, net::socket(socket_->release()));
    }
}

void connect_attempt::complain(const std::string& what)
{
    const std::string at = net::to_text(address_);
    complaint_ += complaint_.empty() ? "" : "; ";
    if (!at.empty() && at != to_.names.text_of(to_.server)) {
        complaint_ += at + ": ";
    }
    complaint_ += what;
}

void connect_attempt::shake_hands(upstream_connection& c, std::unique_ptr<net::tls_engine> engine)
{
    connection_ = &c;
    c.lease_to(this);
    c.speak_tls(std::move(engine));
    c.want_read();
}

void connect_attempt::upstream_readable()
{
    std::span<char> text;
    const net::received got = connection_->receive(text);
    const bool may_speak = got == net::received::data && to_.http2;
    if (got != net::received::nothing && !may_speak) {
        fail_handshake();
    } else if (connection_->shaking_hands()) {
        connection_->want_read();
    } else if (to_.http2 && connection_->tls()->protocol() != "h2") {
        complain("TLS: the server does not choose HTTP/2 (h2) by ALPN");
        owner_.attempt_failed(*this, failure::tls);
    } else {
        early_.assign(text.begin(), text.end());
        owner_.attempt_succeeded(*this, *std::exchange(connection_, nullptr));
    }
}

void connect_attempt::fail_handshake()
{
    const net::tls_engine& tls = *connection_->tls();
    if (!tls.detail().empty()) {
        complain(tls.detail());
    } else if (connection_->shaking_hands()) {
        complain("TLS: the server ended the connection during the handshake");
    } else {
        complain("TLS: the server spoke, or ended the connection, before it was asked");
    }
    const failure why = tls.distrusts_peer() ? failure::certificate : failure::tls;
    owner_.attempt_failed(*this, why);
}

// Leaves it to the owner whether the attempt goes on. The connection may still be of use to another
// request, but not any number of them.
void connect_attempt::lease_abandoned()
{
    lease_ = nullptr;
    if (!owner_.keep_abandoned(*this)) {
        cancel();
    }
}

void connect_attempt::cancel()
{
    if (connection_ != nullptr || greeting_ != nullptr) {
        owner_.attempt_ended(*this);
        return;
    }
    cancelled_ = true;
    boost::system::error_code ignored;
    socket_->close(ignored);  // connected() follows
}

void connect_attempt::expired(base::instant)
{
    if (greeting_ != nullptr) {
        complain(
            "HTTP/2: no greeting within connect_timeout, " + base::format_duration(to_.timeout)
        );
        owner_.attempt_failed(*this, failure::connect_timeout);
        return;
    }
    if (connection_ != nullptr) {
        complain("TLS: no handshake within connect_timeout, " + base::format_duration(to_.timeout));
        owner_.attempt_failed(*this, failure::connect_timeout);
        return;
    }
    timed_out_ = true;
    boost::system::error_code ignored;
    socket_->close(ignored);  // connected() follows
}

}  // namespace gateway::proxy
