#include "gateway/server/http1_connection.hpp"

#include "gateway/server/session.hpp"

namespace gateway::server {

void http1_connection::send_client(std::string_view a, std::string_view b)
{
    if (client_->send(a, b) == net::sent::broken) {
        client_->want_read();  // the end is noticed there, outside of whatever called us
    }
}

bool http1_connection::client_blocked() const
{
    return client_->sending();
}

void http1_connection::end_sending()
{
    client_->finish_sending();
}

void http1_connection::close_client(bool reset)
{
    client_->end(reset);
}

void http1_connection::request_begins()
{
    client_->begin_timeouts_anew();
}

void http1_connection::after_event(bool moved)
{
    client_->after_event(moved);
}

const base::ip_address& http1_connection::peer() const
{
    return client_->peer();
}

}  // namespace gateway::server
