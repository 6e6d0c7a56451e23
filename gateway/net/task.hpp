// Coroutines of the control plane, which is everything that is not per request.
#pragma once

#include "gateway/net/loop.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace gateway::net {

// An Asio socket for connecting; a connected one lives on as a net::connection.
using stream_socket =
    boost::asio::basic_stream_socket<boost::asio::generic::stream_protocol, executor>;

template <typename T = void>
using task = boost::asio::awaitable<T, executor>;

// Completion token: co_await f(..., use_task) gives a tuple that begins with the error_code, so
// that no I/O throws.
inline constexpr auto use_task = boost::asio::as_tuple(boost::asio::use_awaitable_t<executor>{});

inline constexpr base::duration for_ever = base::duration::max();

// Waits until `time` has passed or somebody cancels `t`.
// Requires: `t` outlives the wait.
inline task<> pause(timer& t, base::duration time)
{
    if (time == for_ever) {
        t.expires_at(timer::time_point::max());
    } else {
        t.expires_after(time);
    }
    co_await t.async_wait(use_task);
}

}  // namespace gateway::net
