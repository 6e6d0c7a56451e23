#include "gateway/telemetry/syslog_output.hpp"

#include <climits>

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <system_error>
#include <unistd.h>

namespace gateway::telemetry {

namespace {

// `peer_address` is the address of a syslog server in the kernel's form.
struct peer_address {
    sockaddr_storage bytes{};
    socklen_t size = 0;
};

template <class Address>
peer_address peer_of(const Address& address)
{
    peer_address peer{.bytes = {}, .size = sizeof address};
    std::memcpy(&peer.bytes, &address, sizeof address);
    return peer;
}

peer_address address_of(const log_target& target)
{
    if (target.is == log_target::kind::unix_syslog) {
        sockaddr_un local{};
        local.sun_family = AF_UNIX;
        target.address.copy(static_cast<char*>(local.sun_path), sizeof local.sun_path - 1);
        return peer_of(local);
    }
    sockaddr_in v4{};
    v4.sin_family = AF_INET;
    v4.sin_port = htons(target.port);
    if (::inet_pton(AF_INET, target.address.c_str(), &v4.sin_addr) == 1) {
        return peer_of(v4);
    }
    sockaddr_in6 v6{};
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(target.port);
    ::inet_pton(AF_INET6, target.address.c_str(), &v6.sin6_addr);
    return peer_of(v6);
}

std::string sender_of(const log_target& target)
{
    std::string sender;
    if (target.is == log_target::kind::udp_syslog) {
        std::array<char, HOST_NAME_MAX + 1> host{};
        ::gethostname(host.data(), host.size() - 1);
        sender.append(host.data()).append(" ");
    }
    return sender + "gateway[" + std::to_string(::getpid()) + "]:";
}

class syslog_output final : public log_output {
public:
    syslog_output(int fd, const log_target& target)
        : fd_(fd), peer_(address_of(target)), sender_(sender_of(target))
    {
        connect();
    }

    ~syslog_output() override { ::close(fd_); }

    int fd() const override { return fd_; }

    std::ptrdiff_t write(std::string_view lines) override
    {
        const std::size_t end = std::min(lines.find('\n'), lines.size());
        const std::string_view line = lines.substr(0, std::min(end, max_syslog_line_bytes));
        format_syslog(message_, base::unix_time(), sender_, line);
        if (!send() && errno != EAGAIN && errno != EINTR && (!connect() || !send())) {
            return -1;
        }
        return sent_ ? static_cast<std::ptrdiff_t>(std::min(end + 1, lines.size())) : 0;
    }

private:
    const int fd_;
    const peer_address peer_;
    const std::string sender_;
    std::string message_;
    bool sent_ = false;

    // A server that was started anew has another socket at the same path.
    bool connect()
    {
        // The kernel takes the address by this type.
        // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast)
        return ::connect(fd_, reinterpret_cast<const sockaddr*>(&peer_.bytes), peer_.size) == 0;
    }

    bool send()
    {
        const ssize_t n =
            ::send(fd_, message_.data(), message_.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
        sent_ = n >= 0;
        return sent_;
    }
};

}  // namespace

opened_output open_syslog(const log_target& target)
{
    const bool local = target.is == log_target::kind::unix_syslog;
    const bool v6 = target.address.find(':') != std::string::npos;
    const int family = local ? AF_UNIX : v6 ? AF_INET6 : AF_INET;
    const int fd = ::socket(family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) {
        return {nullptr, target.text + ": " + std::generic_category().message(errno)};
    }
    return {std::make_unique<syslog_output>(fd, target)};
}

void format_syslog(
    std::string& out, base::duration unix_time, std::string_view sender, std::string_view line
)
{
    // Names of months as RFC 3164 has them, whatever the locale.
    constexpr std::array<const char*, 12> months{
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    const std::time_t seconds = std::chrono::duration_cast<std::chrono::seconds>(unix_time).count();
    std::tm local{};
    ::localtime_r(&seconds, &local);
    std::array<char, 32> time{};
    const std::size_t size = std::strftime(time.data(), time.size(), "%e %H:%M:%S ", &local);
    constexpr const char* daemon_info = "<30>";
    out.assign(daemon_info).append(months[static_cast<std::size_t>(local.tm_mon)]).append(" ");
    out.append(time.data(), size).append(sender).append(" ").append(line);
}

}  // namespace gateway::telemetry
