// `response_text` turns the fields of an HTTP/2 response (RFC 9113 §8.3.2) into the head that
// HTTP/1.1 would carry, as request_text does for requests. http::parse_response_head() then reads
// it, so that both protocols have one reader. It is pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gateway::http2 {

class response_text {
public:
    // Prepares for the next head.
    void clear();

    // Adds the next field.
    // Requires: nghttp2 has checked this field alone.
    void add(std::string_view name, std::string_view value);

    // Ends the head, and appends it to `out`. `last`: no content follows. `to_head_request`: the
    // request was a HEAD, whose response never has content.
    // Content is in chunks even if its length is known, as trailers may follow.
    void finish(bool last, bool to_head_request, std::string& out);

    // True if the status is 1xx, so that another head follows.
    bool is_interim() const { return status_.starts_with('1'); }

    // True if the content behind the head is in chunks.
    // Requires: finish() has been called.
    bool is_chunked() const { return is_chunked_; }

    // Returns the Content-Length of content in chunks, which the text does not have.
    std::optional<std::uint64_t> announced_length() const { return length_; }

    // Returns the lines of the fields, each "name: value\r\n".
    std::string_view lines() const { return lines_; }

    // Frees memory beyond that of usual responses.
    void release_memory();

private:
    std::string status_;
    std::string lines_;
    // The value of Content-Length.
    std::string length_text_;
    std::optional<std::uint64_t> length_;
    bool is_chunked_ = false;
};

}  // namespace gateway::http2
