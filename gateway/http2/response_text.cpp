#include "gateway/http2/response_text.hpp"

#include "gateway/base/text.hpp"
#include "gateway/http/output/fixed_response.hpp"

namespace gateway::http2 {

void response_text::clear()
{
    status_.clear();
    lines_.clear();
    has_length_ = is_chunked_ = false;
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
    has_length_ = has_length_ || name == "content-length";
    lines_.append(name).append(": ").append(value).append("\r\n");
}

// A response without a length is in chunks, so that its end is no end of a connection. One that
// ends with its head has a length of 0, where it could have content.
void response_text::finish(bool last, bool to_head_request, std::string& out)
{
    const auto status = static_cast<int>(base::parse_decimal(status_, 999).value_or(0));
    const bool has_content = status >= 200 && status != 204 && status != 304 && !to_head_request;
    is_chunked_ = has_content && !has_length_ && !last;
    out.append("HTTP/1.1 ").append(status_).append(" ").append(http::reason_of(status));
    out.append("\r\n").append(lines_);
    if (is_chunked_) {
        out.append("transfer-encoding: chunked\r\n");
    } else if (has_content && !has_length_) {
        out.append("content-length: 0\r\n");
    }
    out.append("\r\n");
}

}  // namespace gateway::http2
