#include "client.hpp"

#include "request.hpp"
#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <strings.h>
#include <utility>

namespace bench {

namespace {

constexpr std::string_view last_chunk = "0\r\n\r\n";

std::string whole_request(connection_use use, std::size_t sent)
{
    const std::string end = use == connection_use::once ? "Connection: close\r\n\r\n" : "\r\n";
    if (sent == 0) {
        return std::string{request_lines} + end;
    }
    const std::string content = message_of(sent);
    return "POST" + std::string{request_lines.substr(3)} +
           "Content-Type: application/json\r\nContent-Length: " + std::to_string(content.size()) +
           "\r\n" + end + content;
}

// Nothing: it comes in chunks.
std::optional<std::size_t> content_length(std::string_view head)
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
    return std::nullopt;
}

}  // namespace

client::client(loop& in, std::uint16_t port, connection_use use, client_tls& tls, std::size_t sent)
    : loop_{in},
      port_{port},
      use_{use},
      tls_{tls},
      request_{whole_request(use, sent)},
      address_at_{address_at + (sent == 0 ? 0 : 1)}  // POST is longer than GET
{
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
    const ssize_t sent = wire_.send(unsent_);  // a failure shows when receiving
    unsent_.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(sent, 0)));
    if (unsent_.empty() == waits_) {
        waits_ = !waits_;
        loop_.watch_writing(wire_.fd(), *this, waits_);
    }
}

void client::request(std::uint64_t since, std::uint32_t key, answer_listener& listener)
{
    if (!wire_.open()) {
        dial();
    }
    write_address(key, request_.data() + address_at_);
    unsent_ = request_;
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
    if (waits_) {
        say();
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
    waits_ = false;
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
        const std::optional<std::size_t> length = content_length(bytes.substr(0, end));
        chunked_ = !length;
        body_left_ = length.value_or(0);
        bytes.remove_prefix(end + 4);
    }
    take_body(bytes);
}

void client::take_body(std::string_view bytes)
{
    if (chunked_) {
        tail_.append(bytes.substr(bytes.size() - std::min(bytes.size(), last_chunk.size())));
        tail_.erase(0, tail_.size() - std::min(tail_.size(), last_chunk.size()));
        if (tail_ == last_chunk) {
            complete(status_);
        }
        return;
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
    tail_.clear();
    status_ = 0;
    body_left_ = 0;
    if (answer_listener* const listener = std::exchange(listener_, nullptr)) {
        listener->answered(*this, status);
    }
}

}  // namespace bench
