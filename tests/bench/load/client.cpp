#include "client.hpp"

#include "request.hpp"
#include <array>
#include <charconv>
#include <strings.h>
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

client::client(loop& in, std::uint16_t port, connection_use use, client_tls& tls)
    : loop_{in}, port_{port}, use_{use}, tls_{tls}, request_{request_lines}
{
    request_ += use == connection_use::once ? "Connection: close\r\n\r\n" : "\r\n";
    dial();
}

client::~client() = default;

void client::dial()
{
    wire_ = wire{connect_to(port_), tls_.settings, session_.get()};
    loop_.add(wire_.fd(), *this);
    ready_ = false;
    shake_hands();
}

// False: not yet.
bool client::shake_hands()
{
    if (ready_) {
        return true;
    }
    switch (wire_.shake()) {
        case wire::hands::being_shaken:
            return false;
        case wire::hands::refused:
            lose();
            return false;
        case wire::hands::shaken:
            break;
    }
    ready_ = true;
    ++tls_.shaken;
    tls_.resumed += wire_.resumed() ? 1 : 0;
    if (std::exchange(unsaid_, false)) {
        say();
    }
    return true;
}

void client::say()
{
    wire_.send(request_);  // a failure shows when receiving
}

void client::request(std::uint64_t since, std::uint32_t key, answer_listener& listener)
{
    if (!wire_.open()) {
        dial();
    }
    write_address(key, request_.data() + address_at);
    since_ = since;
    listener_ = &listener;
    if (ready_) {
        say();
    } else {
        unsaid_ = true;
    }
}

void client::ready()
{
    static std::array<char, 65536> buffer;
    if (!shake_hands()) {
        return;
    }
    ssize_t got = 0;
    while (wire_.open() && (got = wire_.receive(buffer.data(), buffer.size())) > 0) {
        take({buffer.data(), static_cast<std::size_t>(got)});
        if (tls_.settings == nullptr) {
            return;  // the loop tells of the rest
        }
    }
    if (wire_.open() && got == 0) {
        lose();
    }
}

void client::lose()
{
    if (tls_.returns) {
        session_.reset(wire_.session());
    }
    wire_.close();
    unsaid_ = false;
    finish(std::exchange(completed_, 0));
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
