// Writes what an exchange sends in the form in which a connection of HTTP/1.1 would send it.
#pragma once

#include "gateway/http/chunk.hpp"
#include "gateway/http/message.hpp"

#include <string>
#include <string_view>

namespace gateway::proxy::testing {

class framed_text {
public:
    void head(std::string_view text, const http::framing& body, std::string& out)
    {
        chunked_ = body.how == http::framing::kind::chunked;
        out.append(text);
    }

    void content(std::string_view content, bool last, std::string_view trailers, std::string& out)
        const
    {
        if (chunked_) {
            const http::chunk framed(content, last, trailers);
            out.append(framed.before()).append(content).append(framed.after());
        } else {
            out.append(content);
        }
    }

private:
    bool chunked_ = false;
};

}  // namespace gateway::proxy::testing
