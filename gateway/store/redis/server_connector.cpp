#include "gateway/store/redis/server_connector.hpp"

namespace gateway::store::redis {

namespace {

// Returns the address of the server or, with sentinels, that of the first of them, which stands for
// the master until they have named one.
net::server_address first_address(const redis_options& options)
{
    return options.sentinel ? options.sentinel->sentinels.front()
                            : net::server_address{options.host, options.port, options.socket_path};
}

}  // namespace

server_connector::server_connector(
    const net::executor& executor, const redis_options& options, base::duration limit
)
    : executor_(executor),
      limit_(limit),
      sentinels_(options.sentinel ? sentinels::make(executor, options, limit) : nullptr),
      connector_(std::in_place, executor, first_address(options), limit)
{}

void server_connector::cancel()
{
    cancelled_ = true;
    if (sentinels_ != nullptr) {
        sentinels_->cancel();
    }
    connector_->cancel();
}

net::task<net::stream_socket> server_connector::connect()
{
    if (sentinels_ != nullptr) {
        const bool found = co_await find_master();
        if (!found) {
            co_return net::stream_socket{executor_};
        }
    }
    net::stream_socket socket = co_await connector_->connect();
    why_ = connector_->timed_out() ? failure::timeout : failure::unreachable;
    detail_ = connector_->detail();
    co_return socket;
}

// Asks the sentinels for the master. Returns false if nobody names one.
net::task<bool> server_connector::find_master()
{
    using with_replicas = sentinels::with_replicas;
    const naming named =
        co_await sentinels_->ask(choice_.wants_replicas() ? with_replicas::yes : with_replicas::no);
    why_ = named.why;
    detail_ = named.detail;
    if (cancelled_ || named.masters.empty()) {
        co_return false;
    }
    const net::server_address master = choice_.next(named);
    if (master != connector_->address()) {
        connector_.emplace(executor_, master, limit_);
    }
    co_return true;
}

}  // namespace gateway::store::redis
