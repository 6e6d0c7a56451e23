#include "gateway/http2/response_text.hpp"

#include "gateway/base/text.hpp"
#include "gateway/http/output/fixed_response.hpp"

namespace gateway::http2 {

void response_text::clear()
{
    status_.clear();
    lines_.clear();
    length_text_.clear();
    length_.reset();
    is_chunked_ = false;
}

void response_text::release_memory()
{
    base::clear_keeping_little(lines_);
}

void response_text::add(std::string_view name, std::string_view value)
{
    if (name == ":status") {
        status_.assign(value);
        return;
    }
    if (name == "content-length") {
        length_text_.assign(value);
        return;
    }
    lines_.append(name).append(": ").append(value).append("\r\n");
}

// The end of content is the end of chunks, so that it is no end of a connection, and trailers may
// follow. A response that ends with its head has a length of 0, where it could have content.
void response_text::finish(bool last, bool to_head_request, std::string& out)
{
    const auto status = static_cast<int>(base::parse_decimal(status_, 999).value_or(0));
    const bool has_content = status >= 200 && status != 204 && status != 304 && !to_head_request;
    is_chunked_ = has_content && !last;
    out.append("HTTP/1.1 ").append(status_).append(" ").append(http::reason_of(status));
    out.append("\r\n").append(lines_);
    if (is_chunked_) {
        out.append("transfer-encoding: chunked\r\n");
        length_ = base::parse_decimal(length_text_, INT64_MAX);
    } else if (!length_text_.empty()) {
        out.append("content-length: ").append(length_text_).append("\r\n");
    } else if (has_content) {
        out.append("content-length: 0\r\n");
    }
    out.append("\r\n");
}

}  // namespace gateway::http2
