// `text_writer` appends to a string whose room is made once, beforehand. Each of the many short
// pieces of a message then costs only a few moves.
#pragma once

#include <cassert>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace gateway::http {

class text_writer {
public:
    // Most bytes of a number.
    static constexpr std::size_t number = 20;

    // Makes room for `most` bytes.
    // Requires: no more than these are added.
    text_writer(std::string& out, std::size_t most) : out_(out)
    {
        const std::size_t before = out.size();
        out.resize(before + most);
        end_ = out.data() + before;
    }

    text_writer(const text_writer&) = delete;
    text_writer& operator=(const text_writer&) = delete;

    ~text_writer() { out_.resize(static_cast<std::size_t>(end_ - out_.data())); }

    template <std::size_t N>
    text_writer& add(const char (&literal)[N])
    {
        return put(literal, N - 1);
    }

    text_writer& add(std::string_view text) { return put(text.data(), text.size()); }

    text_writer& add(std::int64_t n)
    {
        end_ = std::to_chars(end_, out_.data() + out_.size(), n).ptr;
        return *this;
    }

private:
    std::string& out_;
    char* end_;

    text_writer& put(const char* text, std::size_t size)
    {
        assert(size <= static_cast<std::size_t>(out_.data() + out_.size() - end_));
        // Empty text may be a null pointer, which memcpy() must not get.
        if (size > 0) {
            std::memcpy(end_, text, size);
            end_ += size;
        }
        return *this;
    }
};

}  // namespace gateway::http
