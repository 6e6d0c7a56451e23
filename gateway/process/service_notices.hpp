// Notifies systemd, or another supervisor that has started the process as systemd starts a unit of
// Type=notify, by the protocol of sd_notify(3). Without NOTIFY_SOCKET nobody is notified.
#pragma once

#include <string_view>

namespace gateway::service_notices {

// Reports that the process serves. It also ends what reloading() began.
void ready();

// Reports that the process goes over to another configuration, or another process.
void reloading();

void stopping();

// Reports that this other process is the service from now on, and serves.
void follow(int pid);

// True if another process may follow this one. It is false if the watcher of this process takes its
// end for the service's, and would not hear of a process that follows: a container, or systemd with
// a Type other than notify.
bool can_be_followed();

}  // namespace gateway::service_notices
