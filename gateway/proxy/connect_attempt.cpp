#include "gateway/proxy/connect_attempt.hpp"

#include "gateway/net/shortage.hpp"

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
    const auto addresses =
        to_.names.addresses_of(to_.server);  // of which there may be fewer by now
    socket_.emplace(to_.loop.get_executor());
    socket_->async_connect(
        addresses[next_address_++ % addresses.size()],
        [this](const boost::system::error_code& ec) {
            to_.loop.refresh_now();
            connected(ec);
        }
    );
}

void connect_attempt::connected(const boost::system::error_code& ec)
{
    if (cancelled_) {
        owner_.attempt_ended(*this);
    } else if (timed_out_) {
        owner_.attempt_failed(*this, failure::connect_timeout);
    } else if (ec) {
        was_short_ = was_short_ || net::is_our_shortage(ec);
        socket_.reset();
        proceed();
    } else {
        owner_.attempt_succeeded(*this, net::socket(socket_->release()));
    }
}

// The connection may still be of use to another request, but not any number of them.
void connect_attempt::lease_abandoned()
{
    lease_ = nullptr;
    if (!owner_.keep_abandoned(*this)) {
        cancel();
    }
}

void connect_attempt::cancel()
{
    cancelled_ = true;
    boost::system::error_code ignored;
    socket_->close(ignored);  // connected() follows
}

void connect_attempt::expired(base::instant)
{
    timed_out_ = true;
    boost::system::error_code ignored;
    socket_->close(ignored);  // connected() follows
}

}  // namespace gateway::proxy
