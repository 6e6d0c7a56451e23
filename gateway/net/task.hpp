// Coroutines of the control plane: everything that is not per request.
#pragma once

#include "gateway/net/loop.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace gateway::net {

template<typename T = void>
using task = boost::asio::awaitable<T, executor>;

// co_await f(..., use_task) gives a tuple that begins with the error_code: no I/O throws.
inline constexpr auto use_task = boost::asio::as_tuple(boost::asio::use_awaitable_t<executor>{});

}  // namespace gateway::net
