#include "gateway/client/requests/kept_head.hpp"

#include <functional>
#include <string_view>

namespace gateway::client {

// The head lies in one piece, which begins with the method.
kept_head::kept_head(const http::request_head& head)
    : text_(head.method.data(), head.size), head_(head)
{
    const std::string_view from{head.method.data(), head.size};
    const std::string_view to = text_;
    // Makes a view into the bytes that were received one into their copy.
    const auto move = [from, to](std::string_view& view) {
        const std::less_equal<const char*> is_before;
        const bool lies_there = is_before(from.data(), view.data()) &&
                                is_before(view.data() + view.size(), from.data() + from.size());
        if (lies_there) {
            view = to.substr(static_cast<std::size_t>(view.data() - from.data()), view.size());
        }
    };
    for (std::string_view* const view :
         {&head_.method,
          &head_.target,
          &head_.path,
          &head_.query,
          &head_.authority,
          &head_.trace_parent,
          &head_.grpc_timeout}) {
        move(*view);
    }
    for (http::field& f : head_.fields) {
        move(f.name);
        move(f.value);
        move(f.line);
    }
}

}  // namespace gateway::client
