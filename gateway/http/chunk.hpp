// `chunk` is a piece of a body in chunked coding (RFC 9112 §7.1): the text that goes before and
// after its content. It is pure.
#pragma once

#include <charconv>
#include <cstddef>
#include <string>
#include <string_view>

namespace gateway::http {

class chunk {
public:
    // `last`: the body ends behind the content, which may be empty only then. `trailers`: lines
    // "name: value\r\n", or nothing.
    chunk(std::string_view content, bool last, std::string_view trailers = {})
    {
        if (!content.empty()) {
            char* end = std::to_chars(size_, size_ + most_digits, content.size(), 16).ptr;
            *end++ = '\r';
            *end++ = '\n';
            size_bytes_ = static_cast<std::size_t>(end - size_);
            after_ = "\r\n";
        }
        if (last) {
            after_.append("0\r\n").append(trailers).append("\r\n");
        }
    }

    std::string_view before() const { return {size_, size_bytes_}; }

    std::string_view after() const { return after_; }

private:
    static constexpr std::size_t most_digits = 16;

    char size_[most_digits + 2];
    std::size_t size_bytes_ = 0;
    std::string after_;
};

}  // namespace gateway::http
