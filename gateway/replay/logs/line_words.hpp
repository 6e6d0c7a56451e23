// `line_words` takes a line of text apart, from left to right. Pure.
#pragma once

#include <cstddef>
#include <string_view>

namespace gateway::replay {

class line_words {
public:
    explicit line_words(std::string_view line) : left_(line) {}

    // Returns the text up to the next blank, and skips the blank.
    std::string_view word() { return until(' '); }

    // Returns the text up to `end`, and skips that; all that is left if there is none.
    std::string_view until(char end)
    {
        const std::size_t at = left_.find(end);
        const std::string_view taken = left_.substr(0, at);
        left_.remove_prefix(at == left_.npos ? left_.size() : at + 1);
        return taken;
    }

    // Returns the contents of "..." without the quotes, and skips a blank behind them. Escapes
    // stay. Sets `good` to false if no such text begins here.
    std::string_view quoted(bool& good)
    {
        std::size_t at = left_.starts_with('"') ? left_.find('"', 1) : left_.npos;
        while (at != left_.npos && is_escaped(at)) {
            at = left_.find('"', at + 1);
        }
        if (at == left_.npos) {
            good = false;
            return {};
        }
        const std::string_view taken = left_.substr(1, at - 1);
        left_.remove_prefix(at + 1);
        skip(' ');
        return taken;
    }

    // Skips the next character if it is this one. Returns false if it is not.
    bool skip(char c)
    {
        const bool there = left_.starts_with(c);
        left_.remove_prefix(there ? 1 : 0);
        return there;
    }

    std::string_view left() const { return left_; }

private:
    std::string_view left_;

    // True if an odd number of backslashes stands before the position.
    bool is_escaped(std::size_t at) const
    {
        std::size_t count = 0;
        while (count < at && left_[at - 1 - count] == '\\') {
            ++count;
        }
        return count % 2 == 1;
    }
};

// `request_line` is the first line of a request, as logs quote it.
struct request_line {
    std::string_view method;
    std::string_view target;
    // False if the text is no request line: the client sent something else, or nothing.
    bool good = false;
};

// Reads "GET /path HTTP/1.1", or "GET /path".
inline request_line read_request_line(std::string_view text)
{
    const std::size_t blank = text.find(' ');
    if (blank == text.npos || blank == 0 || text.find('\\') < blank) {
        return {};
    }
    request_line r{.method = text.substr(0, blank), .target = text.substr(blank + 1), .good = true};
    const std::size_t version = r.target.rfind(" HTTP/");
    r.target = r.target.substr(0, version);
    r.good = !r.target.empty() && r.target.find(' ') == r.target.npos;
    return r;
}

// Splits "https://example.com/path" into its host and "/path". The target of any other form stays.
void split_absolute_target(std::string_view& target, std::string_view& host);

// Replaces \", \\, \t and \xHH, as nginx, Apache and the gateway write bytes, in place. Returns the
// text that is left.
std::string_view unescape(std::string_view text, char* in_place);

}  // namespace gateway::replay
