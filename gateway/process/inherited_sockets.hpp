// `inherited_sockets` takes listening sockets that were open before this process began. They come
// from systemd's socket activation (sd_listen_fds(3)), or in the same way from the gateway process
// that this one follows.
#pragma once

#include "gateway/client/options.hpp"
#include "gateway/net/socket.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace gateway::startup {

inline constexpr int first_inherited_descriptor = 3;

// Most sockets to inherit: 64 listeners with a socket for each of 256 workers, and the admin API's.
inline constexpr int most_inherited_sockets = 64 * 256 + 1;

// `passed_socket` is a listening socket on its way to the process that follows.
struct passed_socket {
    int fd = -1;
    // True if that process is to remove the socket's file.
    bool file_goes_along = false;
};

// The name in LISTEN_FDNAMES of a socket whose file goes along.
inline constexpr std::string_view with_file = "gateway-socket-with-file";

struct inheritance {
    std::vector<net::socket> sockets;
    // Files of some of them, for this process to remove once it serves.
    std::vector<std::string> files;
};

// Takes the sockets that LISTEN_PID and LISTEN_FDS name, and removes these variables and
// LISTEN_FDNAMES, so that no child sees them. A descriptor that is no listening stream socket is
// logged and closed.
//
// Requires: no descriptor of this process's own is open but 0 to 2. It is called once.
// Errors: std::runtime_error if a descriptor is not open, or a variable is no number.
inheritance inherited_sockets();

// Returns the sockets for each wanted address: [i] has those bound to wanted[i], in their order.
// The sockets of an empty [i] are to be opened. A port of 0 takes the first address of the same
// host that nobody else wants. The rest is logged and closed.
std::vector<std::vector<net::socket>> share_out(
    std::vector<net::socket> inherited, const std::vector<net::listen_address>& wanted
);

}  // namespace gateway::startup
