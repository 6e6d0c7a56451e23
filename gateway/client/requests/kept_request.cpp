#include "gateway/client/requests/kept_request.hpp"

#include "gateway/base/text.hpp"
#include "gateway/http/media_type.hpp"

#include <algorithm>

namespace gateway::client {

http::response_head leave_to_continue()
{
    http::response_head head;
    head.start_line = "HTTP/1.1 100 Continue\r\n";
    head.status = 100;
    head.reason = "Continue";
    return head;
}

kept_request::kept_request(
    const http::request_head& head,
    const content::json_paths& paths,
    std::size_t most,
    ahead_memory& memory
)
    : head_(head),
      memory_(memory),
      most_(most),
      is_json_(http::is_json(head.fields)),
      values_(std::in_place, paths, is_json_)
{
    head_.meet_expectation();
}

// Reads one byte more than counts, as the content may end with those that count.
content_reading kept_request::read(std::string_view content, bool last, std::string_view trailers)
{
    if (memory_.used + content.size() > ahead_memory::most) {
        return content_reading::no_room;
    }
    memory_.used += content.size();
    const std::size_t room = most_ - std::min(most_, content_.size());
    content_ += content;
    is_whole_ = last;
    trailers_ = last ? trailers : std::string_view{};
    const bool ends = is_end(content, last);
    const bool is_long = content_.size() > most_;
    values_->read(content.substr(0, room));
    if (ends && !is_long) {
        values_->finish();
    }
    const bool is_unreadable = !is_json_ && !content_.empty();
    return last || is_long || is_unreadable ? content_reading::enough : content_reading::more;
}

void kept_request::read_anew(const content::json_paths& paths)
{
    values_.emplace(paths, is_json_);
    values_->read_beginning(content_, most_, is_end({}, is_whole_));
}

bool kept_request::read_rest(content::path_set paths)
{
    const std::string_view all = content_;
    const std::string_view rest = all.substr(std::min(most_, all.size()));
    return rest.empty() || values_->stays_sound(rest, is_end({}, is_whole_), paths);
}

bool kept_request::read_on(std::string_view content, bool last, content::path_set paths)
{
    return values_->stays_sound(content, is_end(content, last), paths);
}

// True if nothing follows this piece of content. A client of HTTP/2 may say so later than its
// Content-Length does, when the server of a shorter protocol has taken the request as whole.
bool kept_request::is_end(std::string_view content, bool last)
{
    seen_ += content.size();
    return last || (head_.head().body.how == http::framing::kind::length &&
                    seen_ >= head_.head().body.length);
}

void kept_request::release()
{
    memory_.used -= content_.size();
    base::clear_keeping_nothing(content_);
    base::clear_keeping_nothing(trailers_);
}

}  // namespace gateway::client
