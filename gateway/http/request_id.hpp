// The id by which a request is found in everybody's logs: the field X-Request-Id.
#pragma once

#include "gateway/http/message.hpp"

#include <array>
#include <cstddef>
#include <string_view>

namespace gateway::http {

// The id of one request, as the line that both sides are told.
class request_id {
public:
    static constexpr std::size_t max_bytes = 128;

    // `id` has max_bytes at most.
    void set(std::string_view id);

    std::string_view text() const { return {line_.data() + name.size(), size_}; }

    // "X-Request-Id: ID" CRLF.
    std::string_view line() const { return {line_.data(), name.size() + size_ + end.size()}; }

private:
    static constexpr std::string_view name = "X-Request-Id: ";
    static constexpr std::string_view end = "\r\n";

    std::array<char, name.size() + max_bytes + end.size()> line_{};
    // Bytes of the id.
    std::size_t size_ = 0;
};

// The id that a request came with; empty unless there is one field of that name, of 1 to max_bytes
// bytes of visible ASCII: it goes into logs.
std::string_view told_request_id(const request_head& head);

}  // namespace gateway::http
