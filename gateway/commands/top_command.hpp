// `show_top` shows in a terminal what the page of the admin API shows, from the same stream.
#pragma once

#include "gateway/net/listen_address.hpp"

#include <ostream>
#include <string>

namespace gateway {

struct top_request {
    net::listen_address admin;
    // Token of the admin API; empty: there is none, and clients are shown by hashes.
    std::string token{};
    // True if one picture is to be printed.
    bool once = false;
};

// Shows until the key q, SIGINT or SIGTERM, and connects again whenever the gateway is gone; with
// `once` prints one picture. Returns the exit status: failed_while_running if there is no picture.
int show_top(const top_request& request, std::ostream& err);

}  // namespace gateway
