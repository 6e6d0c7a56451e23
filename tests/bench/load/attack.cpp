#include "attack.hpp"

#include "http2_attacks.hpp"
#include "request.hpp"
#include "socket.hpp"
#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>
#include <sys/socket.h>
#include <unistd.h>

namespace bench {

constexpr std::size_t forever = 1'000'000'000;

struct attack_plan {
    std::string_view kind;
    std::vector<std::string> beginnings;  // what the connections say first, in turn
    std::string piece = "";               // and at each visit
    std::size_t taken = 0;                // most bytes read at each visit
    std::size_t visits = forever;         // before another takes its place
};

namespace {

const std::string get = "GET / HTTP/1.1\r\nHost: h\r\n";
const std::string get_large = "GET /large HTTP/1.1\r\nHost: h\r\n\r\n";
const std::string post = "POST / HTTP/1.1\r\nHost: h\r\n";
const std::string chunked = "Transfer-Encoding: chunked\r\n\r\n";
constexpr std::size_t bomb = 32 * 1024;  // bytes

std::string repeat(std::string_view text, std::size_t bytes)
{
    std::string result;
    while (result.size() < bytes) {
        result += text;
    }
    return result;
}

const attack_plan& plan_of(std::string_view kind)
{
    static const std::vector<attack_plan> all{
        {.kind = "idle", .beginnings = {""}},
        // A whole field each time, for a line is worth another look at the head. Another one after
        // as many fields as the gateway's header_timeout has seconds by default.
        {.kind = "heads",
         .beginnings = {get + repeat("a: b\r\n", 300)},
         .piece = "a: b\r\n",
         .visits = 10},
        {.kind = "bodies", .beginnings = {post + "Content-Length: 9999\r\n\r\n"}, .piece = "b"},
        {.kind = "readers", .beginnings = {get_large}, .taken = 1024},
        {.kind = "bombs",
         .beginnings =
             {get + "X: " + repeat("a", bomb),
              get + repeat("a: b\r\n", bomb),
              post + chunked + "5;" + repeat("a", bomb),
              post + chunked + "5" + repeat(";a=b", bomb)},
         .visits = 0},
        {.kind = "resets",
         .beginnings = {get, post + "Content-Length: 9999\r\n\r\nhalf", get_large},
         .visits = 0},
        {.kind = "keys",
         .beginnings = {""},
         .piece = std::string{request_lines} + "\r\n",
         .taken = 4096},
        {.kind = "h2_resets", .beginnings = {requests_and_resets(100)}, .visits = 0},
        {.kind = "h2_frames", .beginnings = {empty_continuations(1100), pings(1100)}, .visits = 0},
        {.kind = "h2_bombs", .beginnings = {references_to_a_long_field(16'000)}, .visits = 0},
        {.kind = "h2_windows",
         .beginnings = {requests_with_small_windows(10)},
         .piece = one_byte_more(),
         .taken = 1024,
         .visits = 20},
    };
    const auto found = std::find_if(all.begin(), all.end(), [kind](const auto& each) {
        return each.kind == kind;
    });
    if (found == all.end()) {
        errno = EINVAL;
        fail("attack");
    }
    return *found;
}

}  // namespace

attack::attack(std::uint16_t port, const attack_options& options)
    : port_{port},
      rate_{options.rate},
      plan_{plan_of(options.kind)},
      piece_{plan_.piece},
      connections_(options.connections)
{
    for (connection& each : connections_) {
        open(each);
        each.visits = opened_ % (plan_.visits + 1);  // not all at their end at once
    }
}

attack::~attack()
{
    for (const connection& each : connections_) {
        close(each.fd);
    }
}

void attack::open(connection& which)
{
    which = {.fd = connect_from_afar(port_)};
    const std::string& beginning = plan_.beginnings[opened_++ % plan_.beginnings.size()];
    send(which.fd, beginning.data(), beginning.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

void attack::visit(connection& which)
{
    if (which.visits++ == plan_.visits) {
        close(which.fd);
        open(which);
        return;
    }
    if (plan_.taken > 0) {
        static std::array<char, 4096> buffer;
        recv(which.fd, buffer.data(), std::min(buffer.size(), plan_.taken), MSG_DONTWAIT);
    }
    if (!piece_.empty()) {
        if (piece_.starts_with(request_lines.substr(0, address_at))) {
            write_address(static_cast<std::uint32_t>(random_()), piece_.data() + address_at);
        }
        send(which.fd, piece_.data(), piece_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    }
}

void attack::resume(std::uint64_t time)
{
    resumed_ = time;
    visited_ = 0;
}

void attack::go_on(std::uint64_t time)
{
    const double due = rate_ * static_cast<double>(time - resumed_) / 1e9;
    while (static_cast<double>(visited_) < due) {
        ++visited_;
        visit(connections_[next_]);
        next_ = (next_ + 1) % connections_.size();
    }
}

void attack::check() const
{
    for (const connection& each : connections_) {
        char byte = 0;
        const ssize_t got = recv(each.fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
        const bool goes_on = got < 0 ? errno == EAGAIN : got > 0 && plan_.taken > 0;
        if (!goes_on && plan_.visits > 0) {
            fail("an attack was answered");
        }
    }
}

}  // namespace bench
