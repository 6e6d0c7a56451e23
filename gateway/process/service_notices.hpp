// What is told to systemd, or whoever has started the process as a unit of Type=notify, in the
// words of sd_notify(3). Without NOTIFY_SOCKET nothing is told to anybody.
#pragma once

#include <string_view>

namespace gateway::service_notices {

// It serves. Also at the end of what reloading() began.
void ready();

// It goes over to another configuration, or another process.
void reloading();

void stopping();

// That process is the service from now on, and serves.
void follow(int pid);

// False: whoever watches this process takes its end for the service's, and would not hear of a
// process that follows it. So does a container, and systemd with a Type other than notify.
bool can_be_followed();

}  // namespace gateway::service_notices
