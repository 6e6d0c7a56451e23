// Answers of the gateway's own: problem details (RFC 9457) with the fields each status wants.
#pragma once

#include "gateway/http/limit_headers.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace gateway::http {

struct own_answer {
    int status = 500;               // one that the gateway gives, or it becomes 500
    std::string_view detail{};      // a sentence of our own for people: no quotes, no backslashes
    limit_statement limits{};       // a 429 also names those that rejected
    base::duration retry_after{0};  // 0: nothing is said of it
    std::string_view date{};        // the line Date, or nothing
    std::string_view extra{};       // whole lines to add to the head
    bool close = false;             // this connection ends after the answer
    bool keep_alive_1_0 = false;    // tell an HTTP/1.0 client that it does not
    bool head_only = false;         // it answers a HEAD
};

// Appends the whole message: problem details, or, with a status below 400, nothing but a head.
// Returns how many bytes of it are content.
std::size_t append_own_answer(const own_answer& answer, std::string& out);

}  // namespace gateway::http
