#include "gateway/process/inherited_sockets.hpp"

#include "config/text/problem.hpp"
#include "config/urls/address.hpp"
#include "gateway/base/text.hpp"
#include "gateway/net/listener.hpp"
#include "gateway/telemetry/log.hpp"

#include <algorithm>
#include <cstdlib>
#include <fcntl.h>
#include <optional>
#include <stdexcept>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <utility>

namespace gateway::startup {

namespace {

using net::listen_address;

// Takes a variable out of the environment.
std::optional<std::string> variable(const char* name)
{
    const char* const text = std::getenv(name);
    auto taken = text == nullptr ? std::nullopt : std::optional<std::string>{text};
    ::unsetenv(name);
    return taken;
}

int number(const char* name, const std::string& text, int max)
{
    const auto parsed = base::parse_decimal(text, static_cast<std::uint64_t>(max));
    if (!parsed) {
        throw std::runtime_error{
            std::string{name} + " is " + config::quote(text) + ", not a number up to " +
            std::to_string(max) + ": whoever starts the gateway must set it right, or unset it"};
    }
    return static_cast<int>(*parsed);
}

// Takes the first of several names with colons between them.
std::string_view next_name(std::string_view& names)
{
    const std::string_view name = names.substr(0, names.find(':'));
    names.remove_prefix(std::min(name.size() + 1, names.size()));
    return name;
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

// `bound_group` is an address with the sockets bound to it.
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

inheritance inherited_sockets()
{
    const auto pid = variable("LISTEN_PID");
    const auto count = variable("LISTEN_FDS");
    const auto names = variable("LISTEN_FDNAMES");
    inheritance all;
    if (!count || !pid || number("LISTEN_PID", *pid, INT32_MAX) != ::getpid()) {
        return all;
    }
    std::string_view left = names ? std::string_view{*names} : std::string_view{};
    const int behind =
        first_inherited_descriptor + number("LISTEN_FDS", *count, most_inherited_sockets);
    for (int fd = first_inherited_descriptor; fd < behind; ++fd) {
        if (::fcntl(fd, F_SETFD, FD_CLOEXEC) != 0) {
            throw std::runtime_error{
                "LISTEN_FDS is " + *count + ", but descriptor " + std::to_string(fd) +
                " is not open: whoever starts the gateway must pass so many sockets, from "
                "descriptor " +
                std::to_string(first_inherited_descriptor) + " on"};
        }
        net::socket s(fd);
        const bool file_comes_along = next_name(left) == with_file;
        if (listens(s)) {
            ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
            if (file_comes_along) {
                all.files.push_back(address_of(s).socket_path);
            }
            all.sockets.push_back(std::move(s));
        } else {
            telemetry::log(
                telemetry::log_level::warning,
                "descriptor " + std::to_string(fd) +
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
