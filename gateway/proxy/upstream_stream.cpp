#include "gateway/proxy/upstream_stream.hpp"

#include "gateway/base/text.hpp"
#include "gateway/http/chunk.hpp"
#include "gateway/proxy/multiplexed_connection.hpp"

#include <algorithm>
#include <utility>

namespace gateway::proxy {

using http2::error_code;

void upstream_stream::begin(bool reused)
{
    id_ = 0;
    reused_ = reused;
    awaited_ = was_blocked_ = begun_ = is_chunked_ = server_has_reset_ = false;
    moved_ = false;
    closed_.reset();
    loss_ = loss::ended;
    announced_length_.reset();
    complaint_.clear();
    outgoing_.clear();
    unconsumed_ = 0;
}

void upstream_stream::release_memory()
{
    outgoing_.clear();
    base::clear_keeping_little(inbox_);
    inbox_at_ = 0;
}

void upstream_stream::touch()
{
    connection_.touch(*this);
}

// ---- the request -----------------------------------------------------------------------------

void upstream_stream::send_head(std::string_view text, const http::framing& body, bool)
{
    to_head_request_ = text.starts_with("HEAD ");
    const bool last = body.is_empty();
    if (last) {
        outgoing_.end({});
    }
    id_ = connection_.request(text, last, *this);
    if (id_ == 0) {
        stream_closed(error_code::refused_stream);
        connection_.look_after_soon();
    }
    was_blocked_ = is_blocked();
}

void upstream_stream::send_content(std::string_view content, bool last, std::string_view trailers)
{
    if (closed_) {
        return;
    }
    if (last) {
        outgoing_.end(trailers);
    }
    connection_.send(outgoing_, content, id_);
    was_blocked_ = is_blocked();
}

void upstream_stream::end_sending()
{
    reset();
}

bool upstream_stream::is_blocked() const
{
    return !closed_ && (!outgoing_.pending().empty() || connection_.is_blocked());
}

void upstream_stream::content_sent(std::size_t bytes)
{
    outgoing_.sent(bytes);
    moved_ = true;
    touch();
}

void upstream_stream::backlog_changed()
{
    was_blocked_ = true;
    if (lessee_ != nullptr) {
        lessee_->upstream_backlog_changed();
    }
}

void upstream_stream::reset()
{
    if (id_ != 0 && !closed_) {
        outgoing_.drop();
        connection_.reset(id_);
    }
}

// ---- the response ----------------------------------------------------------------------------

void upstream_stream::field(std::string_view name, std::string_view value)
{
    connection_.head_of(id_).add(name, value);
}

void upstream_stream::fields_ended(bool last)
{
    http2::response_text& head = connection_.head_of(id_);
    forget_received();
    connection_.heard_message();
    if (begun_) {  // These are trailers.
        if (is_chunked_) {
            inbox_.append(http::chunk({}, true, head.lines()).after());
        }
    } else {
        head.finish(last, to_head_request_, inbox_);
        begun_ = !head.is_interim();
        is_chunked_ = head.is_chunked();
        announced_length_ = head.announced_length();
    }
    connection_.forget_head();
    if (!begun_ && !connection_.may_wait(inbox_.size() - inbox_at_, awaited_)) {
        reset();
        close(error_code::enhance_your_calm, loss::malformed);
        complaint_ = "HTTP/2: too many interim responses wait for the client";
    }
    touch();
}

void upstream_stream::content(std::string_view bytes)
{
    forget_received();
    connection_.heard_message();
    connection_.content_came(bytes.size());
    unconsumed_ += bytes.size();
    if (is_chunked_) {
        const http::chunk framed(bytes, false);
        inbox_.append(framed.before()).append(bytes).append(framed.after());
    } else {
        inbox_.append(bytes);
    }
    touch();
}

void upstream_stream::content_ended()
{
    forget_received();
    if (is_chunked_) {
        inbox_.append(http::chunk({}, true).after());
    }
    touch();
}

// A stream that the server resets is its failure, as nothing was lost on the way; one that a GOAWAY
// leaves out is none. If nobody has reset it, the engine has, for an error of the server.
void upstream_stream::stream_closed(error_code why)
{
    if (closed_) {
        return;
    }
    if (why == error_code::refused_stream) {
        reused_ = !server_has_reset_;
        close(why, loss::refused);
    } else {
        reused_ = reused_ && why == error_code::no_error;
        close(why, server_has_reset_ ? loss::ended : loss::malformed);
    }
}

void upstream_stream::close(error_code why, loss is)
{
    if (closed_) {
        return;
    }
    closed_ = why;
    loss_ = is;
    if (why != error_code::no_error) {
        complaint_ = connection_.complaint(why);
    }
    touch();
}

void upstream_stream::await_bytes()
{
    awaited_ = true;
    if (has_news()) {
        touch();
        connection_.look_after_soon();
    }
}

net::received upstream_stream::receive_text(std::span<char>& text, std::size_t most)
{
    const std::size_t size = std::min(inbox_.size() - inbox_at_, most);
    if (size == 0) {
        if (!closed_) {
            return net::received::nothing;
        }
        return closed_ == error_code::no_error ? net::received::closed : net::received::broken;
    }
    text = std::span(inbox_).subspan(inbox_at_, size);
    inbox_at_ += size;
    if (inbox_at_ == inbox_.size()) {
        connection_.consume(id_, std::exchange(unconsumed_, 0));
    }
    return net::received::data;
}

// Frees text that was received, which its lessee is done with.
void upstream_stream::forget_received()
{
    if (inbox_at_ == inbox_.size()) {
        base::clear_keeping_little(inbox_);
        inbox_at_ = 0;
    }
}

void upstream_stream::take_up()
{
    const bool moved = std::exchange(moved_, false);
    if (lessee_ != nullptr && was_blocked_ && (moved || !is_blocked())) {
        was_blocked_ = is_blocked();
        lessee_->upstream_drained();
    }
    if (lessee_ != nullptr && awaited_ && has_news()) {
        awaited_ = false;
        lessee_->upstream_readable();
    }
}

// ---- the end ---------------------------------------------------------------------------------

// Resets a stream whose response, or whose request, has not ended.
void upstream_stream::give_back(answer_port::disposition, bool is_current)
{
    lessee_ = nullptr;
    awaited_ = false;
    reset();
    touch();
    connection_.given_back(is_current);
}

}  // namespace gateway::proxy
