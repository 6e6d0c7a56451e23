// The line between a gateway and the one that follows it: a stream socket with a word at a time,
// and then questions about buckets, each with its length. It blocks: sending, and receiving a
// message, for a second at most without a byte; hear() for as long as the other end lives.
#pragma once

#include "gateway/net/socket.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace gateway::upgrade_channel {

// What is said on the way, by the one that follows and by the one before it.
enum class word : char {
    // All is open and read but the buckets.
    prepared = 'p',
    // They are in the file.
    buckets = 'b',
    // It serves.
    ready = 'r',
    // The binary cannot be executed; behind it is errno, as one byte.
    not_started = 'x',
};

// In the environment of the process that follows: its end's descriptor; the next one is the file
// with the buckets.
inline constexpr const char* variable = "GATEWAY_UPGRADE";

// Its two ends. Nothing, with errno: there is none to be had.
std::optional<std::pair<net::socket, net::socket>> open();

// False: the other end has gone, or takes nothing for a second.
bool say(const net::socket& s, word w);

// Waits for as long as the other end lives. Nothing: it has gone, or says what is no word.
std::optional<word> hear(const net::socket& s);

// What follows word::not_started: of generic_category().
int hear_error(const net::socket& s);

// As say().
bool send(const net::socket& s, std::string_view message);

// Nothing: the other end has gone, or says nothing within a second.
std::optional<std::string> receive(const net::socket& s);

// Whether bytes come, or an end, within that time.
bool comes(const net::socket& s, int milliseconds);

}  // namespace gateway::upgrade_channel
