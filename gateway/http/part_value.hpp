// `part_value` holds the value of one part of a key, as a server would read it. Spellings that
// servers may take for one value are one value. Every occurrence is read. The value is ambiguous if
// they differ, or if only some servers may read a name as the key's.
#pragma once

#include "gateway/http/message.hpp"

#include <string>
#include <string_view>

namespace gateway::http {

class part_value {
public:
    void clear();

    // Adds an occurrence. An empty one alone counts as none, but one that differs from another
    // makes the value ambiguous.
    void add(std::string_view occurrence);

    void set(std::string_view text)
    {
        text_ = text;
        present_ = true;
    }

    void make_ambiguous() { ambiguous_ = true; }

    bool present() const { return present_; }

    // True if there was an occurrence, even an empty one.
    bool occurred() const { return occurred_; }

    // True if two occurrences differ, or servers read one of them in different ways.
    bool ambiguous() const { return ambiguous_; }

    std::string_view text() const { return text_; }

private:
    std::string text_;
    bool present_ = false;
    bool occurred_ = false;
    bool ambiguous_ = false;
};

// Reads the header `name`. A field whose name has another mark for '-' makes the value ambiguous.
// Authorization is read as credentials.
void read_header(const request_head& head, std::string_view name, part_value& out);

// Reads one line of that header.
void read_header_line(std::string_view name, std::string_view line, part_value& out);

// Reads the header `name` as plain text, even if it is Authorization.
void read_plain_header(const request_head& head, std::string_view name, part_value& out);

// Reads a cookie, from pairs as in RFC 6265 §4.2.1. The value is decoded like a query parameter, as
// many servers do, and quotes around it are removed.
void read_cookie(const request_head& head, std::string_view name, part_value& out);

// Reads a query parameter, from name=value pairs separated by '&', both percent-decoded (WHATWG
// URL, urlencoded). `query` may begin with '?'.
void read_query(std::string_view query, std::string_view name, part_value& out);

// Reads the value of one pair, of a cookie or of a query parameter.
void read_cookie_value(std::string_view text, part_value& out);
void read_query_value(std::string_view text, part_value& out);

}  // namespace gateway::http
