// Recognizes errors that mean a shortage in the gateway itself and say nothing about the peer.
#pragma once

#include <boost/system/errc.hpp>
#include <boost/system/error_code.hpp>

namespace gateway::net {

// True if `ec` means a shortage of descriptors, memory, buffers, or local ports.
inline bool is_our_shortage(const boost::system::error_code& ec)
{
    namespace errc = boost::system::errc;
    return ec == errc::too_many_files_open || ec == errc::too_many_files_open_in_system ||
           ec == errc::not_enough_memory || ec == errc::no_buffer_space ||
           ec == errc::address_not_available;
}

}  // namespace gateway::net
