// Listening sockets that were open before this process began: of systemd's socket activation
// (sd_listen_fds(3)), or of the gateway that this one follows, in the same way.
#pragma once

#include "gateway/net/socket.hpp"
#include "gateway/server/options.hpp"

#include <vector>

namespace gateway::startup {

inline constexpr int first_inherited_descriptor = 3;

// Most of them: 64 listeners with a socket for each of 256 workers, and the admin API's.
inline constexpr int most_inherited_sockets = 64 * 256 + 1;

// Those that LISTEN_PID and LISTEN_FDS tell of; the environment tells nobody else afterwards. What
// is no listening stream socket is logged and closed. Once, at the start.
std::vector<net::socket> inherited_sockets();

// [i] are those bound to wanted[i], in their order; none: it is to be opened. A port of 0 stands
// for the first one of the same host that is nobody else's. The rest is logged and closed.
std::vector<std::vector<net::socket>> share_out(
    std::vector<net::socket> inherited, const std::vector<net::listen_address>& wanted
);

}  // namespace gateway::startup
