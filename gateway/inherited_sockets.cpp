#include "gateway/inherited_sockets.hpp"

#include "config/address.hpp"
#include "gateway/base/text.hpp"
#include "gateway/net/listener.hpp"
#include "gateway/telemetry/log.hpp"

#include <algorithm>
#include <cstdlib>
#include <fcntl.h>
#include <optional>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <utility>

namespace gateway::startup {

namespace {

using net::listen_address;

std::optional<std::uint64_t> number_from_environment(const char* name, std::uint64_t max)
{
    const char* const text = std::getenv(name);
    return text == nullptr ? std::nullopt : base::parse_decimal(text, max);
}

int option_of(const net::socket& s, int name)
{
    int value = -1;
    socklen_t size = sizeof value;
    ::getsockopt(s.fd(), SOL_SOCKET, name, &value, &size);
    return value;
}

bool listens(const net::socket& s)
{
    return option_of(s, SO_TYPE) == SOCK_STREAM && option_of(s, SO_ACCEPTCONN) == 1;
}

listen_address address_of(const net::socket& s)
{
    sockaddr_storage address{};
    socklen_t size = sizeof address;
    ::getsockname(s.fd(), reinterpret_cast<sockaddr*>(&address), &size);
    if (address.ss_family == AF_UNIX) {
        const auto* const local = reinterpret_cast<const sockaddr_un*>(&address);
        const std::size_t room = size - offsetof(sockaddr_un, sun_path);
        const std::string_view path{local->sun_path, std::min(room, sizeof local->sun_path)};
        return {.host = {}, .port = 0, .socket_path = std::string{path.substr(0, path.find('\0'))}};
    }
    const auto ip = net::address_of(address);
    return {ip ? ip->to_string() : "", net::bound_port(s), {}};
}

// One address and the sockets bound to it.
struct bound_group {
    listen_address address;
    std::vector<net::socket> sockets;
};

std::vector<bound_group> grouped(std::vector<net::socket> all)
{
    std::vector<bound_group> groups;
    for (net::socket& s : all) {
        const listen_address address = address_of(s);
        auto group = std::find_if(groups.begin(), groups.end(), [&](const bound_group& g) {
            return g.address == address;
        });
        if (group == groups.end()) {
            group = groups.insert(groups.end(), {address, {}});
        }
        group->sockets.push_back(std::move(s));
    }
    return groups;
}

}  // namespace

std::vector<net::socket> inherited_sockets()
{
    const auto pid = number_from_environment("LISTEN_PID", INT32_MAX);
    const auto count = number_from_environment("LISTEN_FDS", most_inherited_sockets);
    for (const char* const name : {"LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"}) {
        ::unsetenv(name);
    }
    std::vector<net::socket> all;
    if (!count || pid != static_cast<std::uint64_t>(::getpid())) {
        return all;
    }
    for (int i = 0; i < static_cast<int>(*count); ++i) {
        net::socket s(first_inherited_descriptor + i);
        ::fcntl(s.fd(), F_SETFD, FD_CLOEXEC);
        if (listens(s)) {
            ::fcntl(s.fd(), F_SETFL, ::fcntl(s.fd(), F_GETFL) | O_NONBLOCK);
            all.push_back(std::move(s));
        } else {
            telemetry::log(
                telemetry::log_level::warning,
                "descriptor " + std::to_string(s.fd()) +
                    " of LISTEN_FDS is no listening stream socket: closed"
            );
        }
    }
    return all;
}

std::vector<std::vector<net::socket>> share_out(
    std::vector<net::socket> inherited, const std::vector<listen_address>& wanted
)
{
    std::vector<bound_group> groups = grouped(std::move(inherited));
    std::vector<std::vector<net::socket>> shares(wanted.size());
    const auto give = [&](std::size_t i, auto fits) {
        const auto group = std::find_if(groups.begin(), groups.end(), fits);
        if (group != groups.end()) {
            shares[i] = std::move(group->sockets);
            groups.erase(group);
        }
    };
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        give(i, [&](const bound_group& g) { return g.address == wanted[i]; });
    }
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        if (wanted[i].has_any_port()) {
            give(i, [&](const bound_group& g) {
                return g.address.socket_path.empty() && g.address.host == wanted[i].host;
            });
        }
    }
    for (const bound_group& g : groups) {
        telemetry::log(
            telemetry::log_level::warning,
            "the inherited socket on " + config::to_text(g.address) +
                " is no listener of this configuration: closed"
        );
    }
    return shares;
}

}  // namespace gateway::startup
