#include "gateway/store/redis/protocol/server_tls.hpp"

#include <utility>

namespace gateway::store::redis {

server_tls::server_tls(std::optional<net::tls_client_options> options)
    : options_(std::move(options))
{}

std::unique_ptr<net::tls_engine> server_tls::connect(const net::server_address& to)
{
    if (!options_) {
        return nullptr;
    }
    if (client_ == nullptr || server_ != to) {
        client_ = net::tls_client::make(*options_, to.host);
        server_ = to;
    }
    return net::tls_client::connect(client_);
}

void server_tls::forget_session()
{
    if (client_ != nullptr) {
        client_->forget_session();
    }
}

}  // namespace gateway::store::redis
