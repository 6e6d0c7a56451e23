#include "gateway/process/upgrade_channel.hpp"

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>

namespace gateway::upgrade_channel {

namespace {

constexpr int patience_ms = 1'000;
// Most bytes of a message: 8 sliding buckets with all that they may remember, twice.
constexpr std::uint32_t longest = 16 * 1024 * 1024;

bool send_all(const net::socket& s, std::string_view bytes)
{
    while (!bytes.empty()) {
        const ssize_t n = ::send(s.fd(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (n < 0 && errno != EINTR) {
            return false;
        }
        bytes.remove_prefix(n < 0 ? 0 : static_cast<std::size_t>(n));
    }
    return true;
}

bool receive_all(const net::socket& s, char* to, std::size_t size)
{
    while (size > 0) {
        if (!comes(s, patience_ms)) {
            return false;
        }
        const ssize_t n = ::recv(s.fd(), to, size, 0);
        if (n == 0 || (n < 0 && errno != EINTR)) {
            return false;
        }
        to += n < 0 ? 0 : n;
        size -= n < 0 ? 0 : static_cast<std::size_t>(n);
    }
    return true;
}

}  // namespace

std::optional<std::pair<net::socket, net::socket>> open()
{
    std::array<int, 2> ends{-1, -1};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
        return std::nullopt;
    }
    std::pair both{net::socket(ends[0]), net::socket(ends[1])};
    const timeval patience{.tv_sec = patience_ms / 1'000, .tv_usec = 0};
    for (const int end : ends) {
        if (::setsockopt(end, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience) != 0) {
            return std::nullopt;
        }
    }
    return both;
}

bool comes(const net::socket& s, int milliseconds)
{
    pollfd what{s.fd(), POLLIN, 0};
    int found = -1;
    do {
        found = ::poll(&what, 1, milliseconds);
    } while (found < 0 && errno == EINTR);
    return found > 0;
}

bool send_word(const net::socket& s, word w)
{
    const char c = static_cast<char>(w);
    return send_all(s, {&c, 1});
}

std::optional<word> receive_word(const net::socket& s)
{
    char c = 0;
    comes(s, -1);
    if (::recv(s.fd(), &c, 1, 0) != 1) {
        return std::nullopt;
    }
    return static_cast<word>(c);
}

int receive_error(const net::socket& s)
{
    unsigned char error = 0;
    return receive_all(s, reinterpret_cast<char*>(&error), sizeof error) ? error : EIO;
}

bool send(const net::socket& s, std::string_view message)
{
    const auto size = static_cast<std::uint32_t>(message.size());
    std::string whole(sizeof size, '\0');
    std::memcpy(whole.data(), &size, sizeof size);
    return send_all(s, whole.append(message));
}

std::optional<std::string> receive(const net::socket& s)
{
    std::uint32_t size = 0;
    if (!receive_all(s, reinterpret_cast<char*>(&size), sizeof size) || size > longest) {
        return std::nullopt;
    }
    std::string message(size, '\0');
    return receive_all(s, message.data(), size) ? std::optional{std::move(message)} : std::nullopt;
}

}  // namespace gateway::upgrade_channel
