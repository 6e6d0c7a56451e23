// Coroutines of the control plane: everything that is not per request.
#pragma once

#include "gateway/net/loop.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace gateway::net {

// For connecting; what is connected lives as a net::connection.
using stream_socket =
    boost::asio::basic_stream_socket<boost::asio::generic::stream_protocol, executor>;

template <typename T = void>
using task = boost::asio::awaitable<T, executor>;

// co_await f(..., use_task) gives a tuple that begins with the error_code: no I/O throws.
inline constexpr auto use_task = boost::asio::as_tuple(boost::asio::use_awaitable_t<executor>{});

}  // namespace gateway::net
