// `request_id` holds the id by which a request is found in all logs: the field X-Request-Id.
#pragma once

#include "gateway/http/message.hpp"

#include <array>
#include <cstddef>
#include <string_view>

namespace gateway::http {

// The id of one request, which both client and upstream get.
class request_id {
public:
    static constexpr std::size_t max_bytes = 128;

    // Sets the id.
    // Requires: `id` has max_bytes at most.
    void set(std::string_view id);

    std::string_view text() const { return {text_.data(), size_}; }

private:
    std::array<char, max_bytes> text_{};
    // Length of the id in bytes.
    std::size_t size_ = 0;
};

// Returns the id that a request came with. Returns an empty text unless there is exactly one such
// field, of 1 to max_bytes bytes of visible ASCII, because the id goes into logs.
std::string_view vouched_request_id(const request_head& head);

}  // namespace gateway::http
