#include "client.hpp"

#include "request.hpp"
#include <array>
#include <cerrno>
#include <charconv>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

namespace bench {

namespace {

std::size_t content_length(std::string_view head)
{
    constexpr std::string_view name = "\r\ncontent-length:";
    for (std::size_t at = head.find("\r\n"); at != head.npos; at = head.find("\r\n", at + 2)) {
        const std::string_view line = head.substr(at);
        if (line.size() > name.size() && strncasecmp(line.data(), name.data(), name.size()) == 0) {
            const std::size_t digits = line.find_first_not_of(' ', name.size());
            std::size_t length = 0;
            std::from_chars(line.data() + digits, line.data() + line.size(), length);
            return length;
        }
    }
    return 0;
}

}  // namespace

client::client(loop& in, std::uint16_t port, connection_use use)
    : loop_{in}, port_{port}, use_{use}, request_{request_lines}
{
    request_ += use == connection_use::once ? "Connection: close\r\n\r\n" : "\r\n";
    dial();
}

void client::dial()
{
    fd_ = connect_to(port_);
    loop_.add(fd_, *this);
}

void client::request(std::uint64_t since, std::uint32_t key, answer_listener& listener)
{
    if (fd_ < 0) {
        dial();
    }
    write_address(key, request_.data() + address_at);
    since_ = since;
    listener_ = &listener;
    send(fd_, request_.data(), request_.size(), MSG_NOSIGNAL);  // a failure shows in recv
}

void client::ready()
{
    static std::array<char, 65536> buffer;
    const ssize_t got = recv(fd_, buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (got > 0) {
        take({buffer.data(), static_cast<std::size_t>(got)});
    } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
        close(fd_);
        fd_ = -1;
        finish(std::exchange(completed_, 0));
    }
}

void client::take(std::string_view bytes)
{
    if (status_ == 0) {
        if (!head_.empty()) {
            head_ += bytes;
            bytes = head_;
        }
        const std::size_t end = bytes.find("\r\n\r\n");
        if (end == bytes.npos) {
            if (head_.empty()) {
                head_ = bytes;
            }
            return;
        }
        std::from_chars(bytes.data() + 9, bytes.data() + 12, status_);
        body_left_ = content_length(bytes.substr(0, end));
        bytes.remove_prefix(end + 4);
    }
    if (bytes.size() >= body_left_) {
        complete(bytes.size() == body_left_ ? status_ : 0);
    } else {
        body_left_ -= bytes.size();
    }
}

void client::complete(int status)
{
    if (use_ == connection_use::once) {
        completed_ = status;
        body_left_ = 0;
    } else {
        finish(status);
    }
}

void client::finish(int status)
{
    head_.clear();
    status_ = 0;
    body_left_ = 0;
    if (answer_listener* const listener = std::exchange(listener_, nullptr)) {
        listener->answered(*this, status);
    }
}

}  // namespace bench
