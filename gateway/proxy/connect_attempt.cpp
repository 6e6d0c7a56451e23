#include "gateway/proxy/connect_attempt.hpp"

#include "gateway/proxy/pool.hpp"

namespace gateway::proxy {

void pending_lease::abandon()
{
    if (attempt_ != nullptr) {
        attempt_->lease_ = nullptr;  // what it makes goes to the pool
        attempt_ = nullptr;
    }
}

connect_attempt::connect_attempt(pool& p, pending_lease& lease)
    : pool_(p), lease_(&lease), tries_left_(p.most_tries()), turn_(p.next_turn())
{
    lease.attempt_ = this;
    pool_.loop().wheel().arm(*this, pool_.loop().now() + pool_.options().connect_timeout);
}

connect_attempt::~connect_attempt() = default;

void connect_attempt::proceed()
{
    if (socket_.has_value() || !pool_.addresses_known()) {
        return;
    }
    if (!started_) {
        started_ = true;
        tries_left_ = pool_.most_tries();
    }
    if (tries_left_ == 0) {
        end_with(last_failure_);
        return;
    }
    --tries_left_;
    const auto target = pool_.next_target(turn_);
    if (!target) {
        end_with(failure::no_address);
        return;
    }
    server_ = target->server;
    start_connecting(target->address);
}

void connect_attempt::start_connecting(const boost::asio::generic::stream_protocol::endpoint& to)
{
    socket_.emplace(pool_.loop().get_executor());
    socket_->async_connect(to, [this](const boost::system::error_code& ec) {
        pool_.loop().refresh_now();
        connected(ec);
    });
}

void connect_attempt::connected(const boost::system::error_code& ec)
{
    if (cancelled_) {
        pool_.attempt_ended(*this);
        return;
    }
    if (timed_out_) {
        end_with(failure::connect_timeout);
        return;
    }
    if (ec) {
        last_failure_ = failure::connect;
        socket_.reset();
        proceed();
        return;
    }
    upstream_connection& c = pool_.adopt(socket_->release(), server_);
    pending_lease* const lease = std::exchange(lease_, nullptr);
    pool& p = pool_;
    p.attempt_ended(*this);  // destroys *this
    if (lease == nullptr) {
        p.give_back(c, true);
        return;
    }
    lease->attempt_ = nullptr;
    lease->leased(c);
}

void connect_attempt::end_with(failure why)
{
    pending_lease* const lease = std::exchange(lease_, nullptr);
    pool& p = pool_;
    p.count_failure(why);
    p.attempt_ended(*this);  // destroys *this
    if (lease != nullptr) {
        lease->attempt_ = nullptr;
        lease->lease_failed(why);
    }
}

void connect_attempt::cancel()
{
    cancelled_ = true;
    if (lease_ != nullptr) {
        lease_->attempt_ = nullptr;
        lease_ = nullptr;
    }
    boost::system::error_code ignored;
    if (socket_.has_value()) {
        socket_->close(ignored);
    } else {
        pool_.attempt_ended(*this);
    }
}

void connect_attempt::expired(base::instant)
{
    if (!socket_.has_value()) {
        end_with(failure::no_address);
        return;
    }
    timed_out_ = true;
    boost::system::error_code ignored;
    socket_->close(ignored);  // connected() follows
}

}  // namespace gateway::proxy
