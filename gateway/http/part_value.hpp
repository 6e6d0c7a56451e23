// The value of one part of a key, as a server would read it. What some server may read as the key
// is the key: spellings that servers may take for one value are one value, every occurrence is
// looked at, and where no one value can be told, it is ambiguous.
#pragma once

#include "gateway/http/message.hpp"

#include <string>
#include <string_view>

namespace gateway::http {

class part_value {
public:
    void clear();

    // An empty one is as good as none, but not beside another one.
    void add(std::string_view occurrence);

    void set(std::string_view text)
    {
        text_ = text;
        present_ = true;
    }

    void make_ambiguous() { ambiguous_ = true; }

    bool present() const { return present_; }

    // Whether it was said at all, be it empty.
    bool occurred() const { return occurred_; }

    // Two occurrences that differ, or one that servers read in different ways.
    bool ambiguous() const { return ambiguous_; }

    std::string_view text() const { return text_; }

private:
    std::string text_;
    bool present_ = false;
    bool occurred_ = false;
    bool ambiguous_ = false;
};

// A name with another mark for '-' makes it ambiguous. Authorization is read as credentials.
void read_header(const request_head& head, std::string_view name, part_value& out);

// One line of it.
void read_header_line(std::string_view name, std::string_view line, part_value& out);

// The same, whatever Authorization says.
void read_plain_header(const request_head& head, std::string_view name, part_value& out);

// Pairs as in RFC 6265 §4.2.1. A value is decoded like a query parameter, as many servers do, and
// quotes around it are taken off.
void read_cookie(const request_head& head, std::string_view name, part_value& out);

// name=value pairs separated by '&', both percent-decoded (WHATWG URL, urlencoded); `query` may
// begin with '?'.
void read_query(std::string_view query, std::string_view name, part_value& out);

// The value of one pair, of a cookie and of a query parameter.
void read_cookie_value(std::string_view text, part_value& out);
void read_query_value(std::string_view text, part_value& out);

}  // namespace gateway::http
