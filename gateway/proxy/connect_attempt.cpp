#include "gateway/proxy/connect_attempt.hpp"

#include "gateway/net/shortage.hpp"

namespace gateway::proxy {

connect_attempt::connect_attempt(
    attempt_owner& owner,
    net::loop& l,
    server_names& names,
    base::duration connect_timeout,
    pending_lease& lease,
    std::size_t server,
    const lease_wish& wish
)
    : owner_(owner),
      loop_(l),
      names_(names),
      lease_(&lease),
      server_(server),
      wish_(wish),
      next_address_(names.next_turn(server)),
      addresses_left_(names.addresses_of(server).size())
{
    lease.comes_from(this);
    loop_.wheel().arm(*this, loop_.now() + connect_timeout);
}

connect_attempt::~connect_attempt() = default;

void connect_attempt::proceed()
{
    if (addresses_left_ == 0) {
        owner_.attempt_failed(*this, failure::connect);
        return;
    }
    --addresses_left_;
    const auto addresses = names_.addresses_of(server_);  // of which there may be fewer by now
    socket_.emplace(loop_.get_executor());
    socket_->async_connect(
        addresses[next_address_++ % addresses.size()],
        [this](const boost::system::error_code& ec) {
            loop_.refresh_now();
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
