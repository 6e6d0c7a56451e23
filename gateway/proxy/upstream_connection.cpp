#include "gateway/proxy/upstream_connection.hpp"

#include "gateway/http/chunk.hpp"

namespace gateway::proxy {

void upstream_connection::send_content(
    std::string_view content, bool last, std::string_view trailers
)
{
    if (!chunked_) {
        if (!content.empty()) {
            pass(content);
        }
        return;
    }
    const http::chunk framed(content, last, trailers);
    if (!content.empty()) {
        pass(framed.before(), content);
    }
    pass(framed.after());
}

void upstream_connection::give_back(answer_port::disposition how, bool is_current)
{
    if (how == answer_port::disposition::reset) {
        reset();
    }
    reused_ = true;
    owner_.put_back(*this, is_current && how == answer_port::disposition::keep);
}

void upstream_connection::readable()
{
    if (lessee_ != nullptr) {
        lessee_->upstream_readable();
    } else if (tls() != nullptr && hears_no_text()) {
        want_read();
    } else {
        owner_.idle_connection_ended(*this);
    }
}

}  // namespace gateway::proxy
