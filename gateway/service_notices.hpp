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

}  // namespace gateway::service_notices
