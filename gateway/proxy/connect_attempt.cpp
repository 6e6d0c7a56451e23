#include "gateway/proxy/connect_attempt.hpp"

#include "gateway/net/shortage.hpp"
#include "gateway/proxy/pool.hpp"

namespace gateway::proxy {

connect_attempt::connect_attempt(
    pool& p, pending_lease& lease, std::size_t server, const lease_wish& wish
)
    : pool_(p),
      lease_(&lease),
      server_(server),
      wish_(wish),
      next_address_(p.next_turn(server)),
      addresses_left_(p.addresses_of(server).size())
{
    lease.comes_from(this);
    pool_.loop().wheel().arm(*this, pool_.loop().now() + pool_.options().connect_timeout);
}

connect_attempt::~connect_attempt() = default;

void connect_attempt::proceed()
{
    if (addresses_left_ == 0) {
        pool_.attempt_failed(*this, failure::connect);
        return;
    }
    --addresses_left_;
    const auto addresses = pool_.addresses_of(server_);  // of which there may be fewer by now
    socket_.emplace(pool_.loop().get_executor());
    socket_->async_connect(
        addresses[next_address_++ % addresses.size()],
        [this](const boost::system::error_code& ec) {
            pool_.loop().refresh_now();
            connected(ec);
        }
    );
}

void connect_attempt::connected(const boost::system::error_code& ec)
{
    if (cancelled_) {
        pool_.attempt_ended(*this);
    } else if (timed_out_) {
        pool_.attempt_failed(*this, failure::connect_timeout);
    } else if (ec) {
        was_short_ = was_short_ || net::is_our_shortage(ec);
        socket_.reset();
        proceed();
    } else {
        pool_.attempt_succeeded(*this, net::socket(socket_->release()));
    }
}

// The connection may still be of use to another request, but not any number of them.
void connect_attempt::lease_abandoned()
{
    lease_ = nullptr;
    if (!pool_.keep_abandoned(*this)) {
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
