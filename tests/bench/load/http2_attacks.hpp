// What attackers over HTTP/2 say first on a connection (RFC 9113), each beginning with the preface.
#pragma once

#include <string>

namespace bench {

// Opens `count` streams and resets each at once (CVE-2023-44487).
std::string requests_and_resets(int count);

// Begins a head, and sends `count` pieces of it that hold nothing (CVE-2024-27316).
std::string empty_continuations(int count);

// Sends `count` PINGs, each of which wants an answer (CVE-2019-9512).
std::string pings(int count);

// Sends a head of one long field and, on the next stream, a head that refers to it `count` times.
std::string references_to_a_long_field(int count);

// Asks for a large response on `count` streams, each with a window of one byte.
std::string requests_with_small_windows(int count);

// Opens the windows of the connection and of its first stream by one byte.
std::string one_byte_more();

}  // namespace bench
