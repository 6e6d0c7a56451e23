#include "gateway/http2/engine.hpp"

#include "gateway/http2/field_block.hpp"

#include <algorithm>
#include <array>
#include <nghttp2/nghttp2.h>
#include <utility>

namespace gateway::http2 {

namespace {

// Frames are gathered until they have this number of bytes.
constexpr std::size_t most_gathered_bytes = 16 * 1024;
// Most bytes of content that are copied behind the header of their frame. Up to this size, a copy
// is cheaper than a second element of a gathering write.
constexpr std::size_t copied_content_bytes = 4096;
constexpr std::size_t frame_header_bytes = 9;
// Most answers to PING and SETTINGS that wait for a peer that does not read.
constexpr std::size_t most_answers = 100;
// Most frames that wait for a peer that does not read; content is not among them.
constexpr std::size_t most_queued_frames = 4000;
// Most bytes of a head that is sent, as nghttp2 estimates them: more than an upstream may send.
constexpr std::size_t most_head_bytes = 4 * 1024 * 1024;
// Most settings in one frame; seven are known.
constexpr std::size_t most_settings = 32;
// A peer's resets are counted by engine_events, so that the library's own count is out of reach.
constexpr std::uint64_t no_reset_limit = 1'000'000'000;

std::string_view text_of(const std::uint8_t* bytes, std::size_t size)
{
    return {reinterpret_cast<const char*>(bytes), size};
}

}  // namespace

// The functions that nghttp2 calls, with `user` being the engine.
struct engine_callbacks {
    static engine& engine_of(void* user) { return *static_cast<engine*>(user); }

    static stream_events* stream_of(nghttp2_session* session, stream_id id)
    {
        return static_cast<stream_events*>(nghttp2_session_get_stream_user_data(session, id));
    }

    static int begin_frame(nghttp2_session*, const nghttp2_frame_hd* head, void* user)
    {
        const bool empty_content = head->type == NGHTTP2_DATA && head->length == 0 &&
                                   (head->flags & NGHTTP2_FLAG_END_STREAM) == 0;
        const bool of_message = head->type == NGHTTP2_DATA || head->type == NGHTTP2_HEADERS;
        if (!of_message || empty_content) {
            engine_of(user).events_.idle_frame();
        }
        return 0;
    }

    static int begin_headers(nghttp2_session* session, const nghttp2_frame* frame, void* user)
    {
        engine& e = engine_of(user);
        e.fields_of_ = frame->hd.stream_id;
        if (frame->headers.cat != NGHTTP2_HCAT_REQUEST) {
            return 0;
        }
        const stream_id id = frame->hd.stream_id;
        stream_events* const opened = e.events_.stream_opened(id);
        if (opened == nullptr) {
            return nghttp2_submit_rst_stream(session, 0, id, NGHTTP2_REFUSED_STREAM);
        }
        nghttp2_session_set_stream_user_data(session, id, opened);
        nghttp2_extpri in_turn{NGHTTP2_EXTPRI_DEFAULT_URGENCY, 1};
        nghttp2_session_change_extpri_stream_priority(session, id, &in_turn, 1);
        return 0;
    }

    // Parameters are nghttp2's.
    // NOLINTNEXTLINE(readability-function-size)
    static int
    header(nghttp2_session* session, const nghttp2_frame* frame, const std::uint8_t* name, std::size_t name_size, const std::uint8_t* value, std::size_t value_size, std::uint8_t, void*)
    {
        if (stream_events* const to = stream_of(session, frame->hd.stream_id)) {
            to->field(text_of(name, name_size), text_of(value, value_size));
        }
        return 0;
    }

    // Refuses a message with a field that HTTP/2 does not allow, which nghttp2 would leave out.
    // NOLINTNEXTLINE(readability-function-size)
    static int
    invalid_header(nghttp2_session*, const nghttp2_frame*, const std::uint8_t*, std::size_t, const std::uint8_t*, std::size_t, std::uint8_t, void*)
    {
        return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    }

    static int frame_received(nghttp2_session* session, const nghttp2_frame* frame, void* user)
    {
        engine& e = engine_of(user);
        const bool last = (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
        if (frame->hd.type == NGHTTP2_PING && (frame->hd.flags & NGHTTP2_FLAG_ACK) != 0) {
            e.events_.ponged();
        }
        stream_events* const to = stream_of(session, frame->hd.stream_id);
        if (frame->hd.type == NGHTTP2_HEADERS) {
            e.fields_of_ = 0;
            if (to != nullptr) {
                to->fields_ended(last);
            }
        } else if (frame->hd.type == NGHTTP2_DATA && last && to != nullptr) {
            to->content_ended();
        }
        return 0;
    }

    static int
    data_chunk(nghttp2_session* session, std::uint8_t, stream_id id, const std::uint8_t* data, std::size_t size, void*)
    {
        if (stream_events* const to = stream_of(session, id)) {
            to->content(text_of(data, size));
        } else {
            nghttp2_session_consume_connection(session, size);
        }
        return 0;
    }

    static int stream_close(nghttp2_session* session, stream_id id, std::uint32_t error, void* user)
    {
        engine& e = engine_of(user);
        e.fields_of_ = e.fields_of_ == id ? 0 : e.fields_of_;
        if (stream_events* const to = stream_of(session, id)) {
            nghttp2_session_set_stream_user_data(session, id, nullptr);
            to->stream_closed(error == NGHTTP2_NO_ERROR);
        }
        return 0;
    }

    // Counts a stream that the library refuses by itself, as it is one too many.
    static int invalid_frame(nghttp2_session*, const nghttp2_frame* frame, int, void* user)
    {
        if (frame->hd.type == NGHTTP2_HEADERS) {
            engine_of(user).events_.stream_refused();
        }
        return 0;
    }

    // Resets a stream whose head cannot be sent, so that its peer does not wait for it.
    static int frame_not_sent(nghttp2_session* session, const nghttp2_frame* frame, int, void*)
    {
        if (frame->hd.type == NGHTTP2_HEADERS) {
            nghttp2_submit_rst_stream(session, 0, frame->hd.stream_id, NGHTTP2_INTERNAL_ERROR);
        }
        return 0;
    }

    // Says how much content follows, which send_data() sends. Parameters are nghttp2's.
    static ssize_t
    read_content(nghttp2_session* session, stream_id id, std::uint8_t*, std::size_t most, std::uint32_t* flags, nghttp2_data_source* source, void*)
    {
        const stream_events& from = *static_cast<const stream_events*>(source->ptr);
        const std::size_t size = std::min(most, from.pending().size());
        const bool last = size == from.pending().size() && from.is_last_pending();
        if (size == 0 && !last) {
            return NGHTTP2_ERR_DEFERRED;
        }
        if (size != 0) {
            *flags |= NGHTTP2_DATA_FLAG_NO_COPY;
        }
        if (last) {
            *flags |= NGHTTP2_DATA_FLAG_EOF;
            if (std::string lines{from.trailers()}; !lines.empty()) {
                *flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
                const field_block fields(0, lines);
                nghttp2_submit_trailer(session, id, fields.data(), fields.size());
            }
        }
        return static_cast<ssize_t>(size);
    }

    static int send_data(
        nghttp2_session*,
        nghttp2_frame*,
        const std::uint8_t* head,
        std::size_t size,
        nghttp2_data_source* source,
        void* user
    )
    {
        engine& e = engine_of(user);
        stream_events& from = *static_cast<stream_events*>(source->ptr);
        const std::string_view content = from.pending().substr(0, size);
        e.out_.append(text_of(head, frame_header_bytes));
        if (size <= copied_content_bytes) {
            e.out_.append(content);
        } else {
            e.flush(content);
        }
        from.content_sent(size);
        return 0;
    }

    static nghttp2_session_callbacks* all()
    {
        nghttp2_session_callbacks* c = nullptr;
        nghttp2_session_callbacks_new(&c);
        nghttp2_session_callbacks_set_on_begin_frame_callback(c, begin_frame);
        nghttp2_session_callbacks_set_on_begin_headers_callback(c, begin_headers);
        nghttp2_session_callbacks_set_on_header_callback(c, header);
        nghttp2_session_callbacks_set_on_invalid_header_callback(c, invalid_header);
        nghttp2_session_callbacks_set_on_frame_recv_callback(c, frame_received);
        nghttp2_session_callbacks_set_on_data_chunk_recv_callback(c, data_chunk);
        nghttp2_session_callbacks_set_on_stream_close_callback(c, stream_close);
        nghttp2_session_callbacks_set_on_invalid_frame_recv_callback(c, invalid_frame);
        nghttp2_session_callbacks_set_on_frame_not_send_callback(c, frame_not_sent);
        nghttp2_session_callbacks_set_send_data_callback(c, send_data);
        return c;
    }

    static nghttp2_option* bounds()
    {
        nghttp2_option* o = nullptr;
        nghttp2_option_new(&o);
        nghttp2_option_set_no_auto_window_update(o, 1);
        nghttp2_option_set_no_closed_streams(o, 1);
        nghttp2_option_set_max_outbound_ack(o, most_answers);
        nghttp2_option_set_max_settings(o, most_settings);
        nghttp2_option_set_max_send_header_block_length(o, most_head_bytes);
        nghttp2_option_set_stream_reset_rate_limit(o, no_reset_limit, no_reset_limit);
        return o;
    }
};

void engine::freer::operator()(nghttp2_session* of) const
{
    nghttp2_session_del(of);
}

engine::engine(
    const options& bounds, std::size_t max_header_bytes, engine_events& events, std::string& out
)
    : events_(events), out_(out)
{
    static nghttp2_session_callbacks* const callbacks = engine_callbacks::all();
    static nghttp2_option* const limits = engine_callbacks::bounds();
    nghttp2_session* made = nullptr;
    if (nghttp2_session_server_new2(&made, callbacks, this, limits) != 0) {
        throw std::bad_alloc();
    }
    session_.reset(made);
    const std::array<nghttp2_settings_entry, 5> settings{
        {{NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, bounds.max_streams},
         {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, bounds.stream_window},
         {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, static_cast<std::uint32_t>(max_header_bytes)},
         {NGHTTP2_SETTINGS_ENABLE_CONNECT_PROTOCOL, 1},
         {NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES, 1}}};
    nghttp2_submit_settings(made, NGHTTP2_FLAG_NONE, settings.data(), settings.size());
    nghttp2_session_set_local_window_size(
        made, NGHTTP2_FLAG_NONE, 0, static_cast<std::int32_t>(bounds.connection_window)
    );
}

engine::~engine() = default;

bool engine::receive(std::span<const char> bytes)
{
    const auto* const data = reinterpret_cast<const std::uint8_t*>(bytes.data());
    const ssize_t taken = nghttp2_session_mem_recv(session_.get(), data, bytes.size());
    was_flooded_ = taken == NGHTTP2_ERR_FLOODED || taken == NGHTTP2_ERR_TOO_MANY_CONTINUATIONS ||
                   nghttp2_session_get_outbound_queue_size(session_.get()) > most_queued_frames;
    return taken >= 0 && !was_flooded_;
}

void engine::send_frames()
{
    while (!events_.is_blocked()) {
        const std::uint8_t* data = nullptr;
        const ssize_t size = nghttp2_session_mem_send(session_.get(), &data);
        if (size <= 0) {
            break;
        }
        out_.append(text_of(data, static_cast<std::size_t>(size)));
        if (out_.size() >= most_gathered_bytes) {
            flush();
        }
    }
    flush();
}

void engine::flush(std::string_view content)
{
    if (!out_.empty() || !content.empty()) {
        events_.send_bytes(out_, content);
        out_.clear();
    }
}

bool engine::is_over() const
{
    return nghttp2_session_want_read(session_.get()) == 0 &&
           nghttp2_session_want_write(session_.get()) == 0;
}

void engine::respond(
    stream_id id, int status, std::span<char> fields, bool last, stream_events& from
)
{
    const field_block block(status, fields);
    nghttp2_data_provider content{};
    content.source.ptr = &from;
    content.read_callback = engine_callbacks::read_content;
    nghttp2_submit_response(
        session_.get(), id, block.data(), block.size(), last ? nullptr : &content
    );
}

void engine::respond_interim(stream_id id, int status, std::span<char> fields)
{
    const field_block block(status, fields);
    nghttp2_submit_headers(
        session_.get(), NGHTTP2_FLAG_NONE, id, nullptr, block.data(), block.size(), nullptr
    );
}

void engine::resume(stream_id id)
{
    nghttp2_session_resume_data(session_.get(), id);
}

void engine::reset(stream_id id, error_code why)
{
    nghttp2_submit_rst_stream(
        session_.get(), NGHTTP2_FLAG_NONE, id, static_cast<std::uint32_t>(why)
    );
}

std::size_t engine::window(stream_id id) const
{
    const std::int32_t least = std::min(
        nghttp2_session_get_stream_remote_window_size(session_.get(), id),
        nghttp2_session_get_remote_window_size(session_.get())
    );
    return static_cast<std::size_t>(std::max(least, 0));
}

void engine::consume(stream_id id, std::size_t bytes)
{
    nghttp2_session_consume(session_.get(), id, bytes);
}

void engine::consume_connection(std::size_t bytes)
{
    nghttp2_session_consume_connection(session_.get(), bytes);
}

void engine::announce_end()
{
    nghttp2_submit_shutdown_notice(session_.get());
}

void engine::ping()
{
    nghttp2_submit_ping(session_.get(), NGHTTP2_FLAG_NONE, nullptr);
}

void engine::end_after_streams()
{
    nghttp2_session* const s = session_.get();
    nghttp2_submit_goaway(
        s, NGHTTP2_FLAG_NONE, nghttp2_session_get_last_proc_stream_id(s), 0, nullptr, 0
    );
}

void engine::end_now(error_code why)
{
    nghttp2_session_terminate_session(session_.get(), static_cast<std::uint32_t>(why));
}

}  // namespace gateway::http2
