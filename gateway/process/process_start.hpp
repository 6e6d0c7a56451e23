// `start_process` starts another process of this binary, with sockets of this one.
#pragma once

#include "gateway/process/inherited_sockets.hpp"

#include <string>
#include <sys/types.h>
#include <vector>

namespace gateway {

// `own_start` says how to start a process like this one.
struct own_start {
    // Absolute path of the binary. Links in it are not resolved, as they may lead to another binary
    // by the time of the start. It is the bare name if PATH does not have that.
    std::string path;
    std::vector<std::string> words;
};

// Returns the start that `argv` describes. A name without a '/' is looked up in PATH, as the shell
// does.
own_start own_start_of(int argc, const char* const* argv);

// Starts a process with these descriptors from 3 on: those that listen, the channel, the file. It
// has the variables by which startup and upgrade_channel find them. Returns -1, with errno, if
// there is no process. A binary that cannot be executed is reported on the channel
// (word::not_started).
pid_t start_process(
    const own_start& how,
    const std::vector<startup::passed_socket>& listening,
    int channel,
    int file
);

}  // namespace gateway
