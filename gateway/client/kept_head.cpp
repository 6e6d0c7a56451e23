#include "gateway/client/kept_head.hpp"

#include <functional>
#include <string_view>

namespace gateway::client {

namespace {

// `text_move` makes views into one text views into a copy of it.
class text_move {
public:
    text_move(std::string_view from, std::string_view to) : from_(from), to_(to) {}

    void apply(std::string_view& view) const
    {
        const std::less_equal<const char*> is_before;
        const bool lies_there = is_before(from_.data(), view.data()) &&
                                is_before(view.data() + view.size(), from_.data() + from_.size());
        if (lies_there) {
            view = to_.substr(static_cast<std::size_t>(view.data() - from_.data()), view.size());
        }
    }

private:
    std::string_view from_;
    std::string_view to_;
};

}  // namespace

// The head lies in one piece, which begins with the method.
kept_head::kept_head(const http::request_head& head)
    : text_(head.method.data(), head.size), head_(head)
{
    const text_move move({head.method.data(), head.size}, text_);
    for (std::string_view* const view :
         {&head_.method,
          &head_.target,
          &head_.path,
          &head_.query,
          &head_.authority,
          &head_.trace_parent,
          &head_.grpc_timeout}) {
        move.apply(*view);
    }
    for (http::field& f : head_.fields) {
        move.apply(f.name);
        move.apply(f.value);
        move.apply(f.line);
    }
}

void kept_head::meet_expectation()
{
    head_.expects_continue = false;
}

}  // namespace gateway::client
