// Starts another process of this binary, with sockets of this one.
#pragma once

#include "gateway/process/inherited_sockets.hpp"

#include <string>
#include <sys/types.h>
#include <vector>

namespace gateway {

// How a process is started like this one.
struct own_start {
    // Of the binary, as it was told: a link may lead elsewhere by now.
    std::string path;
    std::vector<std::string> words;
};

// argv, looked up in PATH as the shell does.
own_start own_start_of(int argc, const char* const* argv);

// It has these descriptors from 3 on: those that listen, the channel, the file; and the variables
// by which startup and upgrade_channel find them. -1, with errno: there is none. What cannot be
// executed says so on the channel (word::not_started).
pid_t start_process(
    const own_start& how,
    const std::vector<startup::passed_socket>& listening,
    int channel,
    int file
);

}  // namespace gateway
