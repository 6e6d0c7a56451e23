// `hear` reads the requests of the admin API and refuses those that no server should accept.
#pragma once

#include "gateway/admin/admin_http.hpp"

#include <boost/beast/http/parser.hpp>

#include <optional>

namespace gateway::admin {

using admin_parser = beast::http::request_parser<beast::http::string_body>;

struct heard_request {
    // True if the peer has gone or was too slow. There is no one to answer.
    bool gone = false;
    // The response that refuses the request, after which the connection is of no use. Nothing: the
    // parser has the request.
    std::optional<probes::control_response> refusal{};
};

// Reads the next request of the connection, as a whole.
// Ownership: all three arguments outlive the task.
net::task<heard_request> hear(
    probes::control_stream& s, beast::flat_buffer& buffer, admin_parser& into
);

// Lets the peer read the last answer before the connection closes. Reads and drops what the peer
// still sends, up to a bound: data left unread would make the system discard the answer with a
// reset. The stream's deadline applies.
net::task<> part_with(probes::control_stream& s);

}  // namespace gateway::admin
