// `upgrade_channel` is the connection between a gateway process and the one that follows it: a
// stream socket that carries one word at a time, and then requests about buckets, each with its
// length.
//
// It blocks. Sending, or receiving a message, waits for a second at most without a byte;
// receive_word() waits for as long as the other end lives.
#pragma once

#include "gateway/net/socket.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace gateway::upgrade_channel {

// `word` is a step of the upgrade, which one of the processes reports to the other.
enum class word : char {
    // The process that follows has opened and read all but the buckets.
    prepared = 'p',
    // The buckets are in the file.
    buckets = 'b',
    // The process that follows serves.
    ready = 'r',
    // The binary cannot be executed. The errno follows, as one byte.
    not_started = 'x',
};

// Variable of the process that follows, with the descriptor of its end. The next descriptor is the
// file with the buckets.
inline constexpr const char* variable = "GATEWAY_UPGRADE";

// Returns the two ends of a new channel; nothing, with errno, if there can be none.
std::optional<std::pair<net::socket, net::socket>> open();

// Sends a word. Returns false if the other end has gone, or takes nothing for a second.
bool send_word(const net::socket& s, word w);

// Receives a word, and waits for it as long as the other end lives. Returns nothing if that has
// gone.
std::optional<word> receive_word(const net::socket& s);

// Receives the errno, of generic_category(), that follows word::not_started.
int receive_error(const net::socket& s);

// Sends a message. Returns false as send_word() does.
bool send(const net::socket& s, std::string_view message);

// Receives a message. Returns nothing if the other end has gone, or sends nothing within a second.
std::optional<std::string> receive(const net::socket& s);

// True if bytes come, or an end, within that time; -1: it has no bound.
bool comes(const net::socket& s, int milliseconds);

}  // namespace gateway::upgrade_channel
