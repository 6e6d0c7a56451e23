// Reads what the admin API is asked. A request that no server should take is refused here.
#pragma once

#include "gateway/admin/admin_http.hpp"

#include <boost/beast/http/parser.hpp>

#include <optional>

namespace gateway::admin {

using admin_parser = beast::http::request_parser<beast::http::string_body>;

struct heard_request {
    // The peer has gone, or was too slow: there is nobody to answer.
    bool gone = false;
    // What it is refused with, after which the connection is of no use; nothing: the parser has it.
    std::optional<probes::control_response> refusal{};
};

// The next request of the connection, whole. All three must live until the task has ended.
net::task<heard_request> hear(
    probes::control_stream& s, beast::flat_buffer& buffer, admin_parser& into
);

// Has the peer read the last answer before the connection closes. What it still sends is read and
// dropped, up to a bound: if it were left unread, the system would take the answer back with a
// reset. Its deadline is the stream's.
net::task<> part_with(probes::control_stream& s);

}  // namespace gateway::admin
