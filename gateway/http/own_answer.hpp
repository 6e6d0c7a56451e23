// Answers of the gateway's own: problem details (RFC 9457) with the fields each status wants.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace gateway::http {

struct own_answer {
    int status = 500;           // one that the gateway gives, or it becomes 500
    std::string_view detail{};  // a sentence of our own for people: no quotes, no backslashes
    std::span<const std::string_view> violated{};  // names of limits; for 429
    std::string_view extra{};                      // whole lines to add to the head
    bool close = false;                            // this connection ends after the answer
    bool keep_alive_1_0 = false;                   // tell an HTTP/1.0 client that it does not
    bool head_only = false;                        // it answers a HEAD
};

// Appends the whole message.
void append_own_answer(const own_answer& answer, std::string& out);

}  // namespace gateway::http
