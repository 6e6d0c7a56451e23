#include "gateway/process/service_notices.hpp"

#include "gateway/base/clock.hpp"
#include "gateway/net/socket.hpp"

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace gateway::service_notices {

namespace {

// Sends a notice. It is lost if nobody listens, as serving is worth more than reporting it.
void notify(std::string_view state)
{
    const char* const name = std::getenv("NOTIFY_SOCKET");
    const std::string_view path = name == nullptr ? "" : name;
    sockaddr_un to{};
    if (path.size() < 2 || path.size() >= sizeof to.sun_path ||
        (path[0] != '/' && path[0] != '@')) {
        return;
    }
    to.sun_family = AF_UNIX;
    std::memcpy(to.sun_path, path.data(), path.size());
    if (path[0] == '@') {
        to.sun_path[0] = '\0';
    }
    const net::socket s(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    (void)::sendto(
        s.fd(),
        state.data(),
        state.size(),
        MSG_NOSIGNAL | MSG_DONTWAIT,
        reinterpret_cast<const sockaddr*>(&to),
        static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size())
    );
}

}  // namespace

void ready()
{
    notify("READY=1");
}

// Type=notify-reload wants the time, which says which reload is meant.
void reloading()
{
    const auto since_start =
        std::chrono::floor<std::chrono::microseconds>(base::now().time_since_epoch());
    notify("RELOADING=1\nMONOTONIC_USEC=" + std::to_string(since_start.count()));
}

void stopping()
{
    notify("STOPPING=1");
}

void follow(int pid)
{
    notify("MAINPID=" + std::to_string(pid) + "\nREADY=1");
}

bool can_be_followed()
{
    const std::string own = std::to_string(::getpid());
    const char* const main_process = std::getenv("SYSTEMD_EXEC_PID");
    const bool is_watched = own == "1" || (main_process != nullptr && own == main_process);
    return !is_watched || std::getenv("NOTIFY_SOCKET") != nullptr;
}

}  // namespace gateway::service_notices
