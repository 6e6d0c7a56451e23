// `field_block` is the head of a message, or trailers, as nghttp2 takes it. It is made from the
// text that HTTP/1 would send, so that both protocols say the same.
#pragma once

#include <nghttp2/nghttp2.h>
#include <span>
#include <string_view>
#include <vector>

namespace gateway::http2 {

class field_block {
public:
    // Makes the block of a head with this status, or of trailers if `status` is 0, from lines
    // "name: value\r\n". Names become lower case in place; fields about a connection, which HTTP/2
    // forbids (RFC 9113 §8.2.2), are left out.
    // Ownership: `lines` must outlive this object.
    field_block(int status, std::span<char> lines);

    // Makes the block of a request (RFC 9113 §8.3.1) from its head in HTTP/1.1, likewise.
    field_block(std::string_view scheme, std::span<char> head);

    const nghttp2_nv* data() const { return fields_.data(); }

    std::size_t size() const { return fields_.size(); }

private:
    char status_[3]{};
    std::vector<nghttp2_nv> fields_;

    void add(std::string_view name, std::string_view value);
    void add_lines(std::span<char> lines, std::string_view* host);
};

}  // namespace gateway::http2
