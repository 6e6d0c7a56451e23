// The value of one part of a key, as a server would read it: spellings that a server may take for
// one value are one value, and every occurrence is looked at.
#pragma once

#include "gateway/http/message.hpp"

#include <string>
#include <string_view>

namespace gateway::server {

class part_value {
public:
    void clear();
    void add(std::string_view occurrence);  // an empty one does not count

    void set(std::string_view text)
    {
        text_ = text;
        present_ = true;
    }

    void make_ambiguous() { ambiguous_ = true; }

    bool present() const { return present_; }

    // Two occurrences that differ, or one that only some servers would take for it.
    bool ambiguous() const { return ambiguous_; }

    std::string_view text() const { return text_; }

private:
    std::string text_;
    bool present_ = false;
    bool ambiguous_ = false;
};

// A name with another mark for '-' makes it ambiguous. The scheme of Authorization is in lower case
// and one space behind it, as its spelling means nothing (RFC 9110 §11.4).
void read_header(const http::request_head& head, std::string_view name, part_value& out);

// Cookie pairs as in RFC 6265 §4.2.1; quotes around a value are taken off, and it is decoded like a
// query parameter, as many servers do.
void read_cookie(const http::request_head& head, std::string_view name, part_value& out);

// name=value pairs separated by '&', both percent-decoded, '+' a space (WHATWG URL, urlencoded);
// `query` may begin with '?'.
void read_query(std::string_view query, std::string_view name, part_value& out);

}  // namespace gateway::server
