// The value of one part of a key, as a server would read it: query parameters are decoded, every
// occurrence is looked at.
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

    bool present() const { return present_; }

    bool ambiguous() const { return ambiguous_; }  // two occurrences, and they differ

    std::string_view text() const { return text_; }

private:
    std::string text_;
    bool present_ = false;
    bool ambiguous_ = false;
};

void read_header(const http::request_head& head, std::string_view name, part_value& out);

// Cookie pairs as in RFC 6265 §4.2.1.
void read_cookie(const http::request_head& head, std::string_view name, part_value& out);

// name=value pairs separated by '&', both percent-decoded, '+' a space (WHATWG URL, urlencoded);
// `query` may begin with '?'.
void read_query(std::string_view query, std::string_view name, part_value& out);

}  // namespace gateway::server
