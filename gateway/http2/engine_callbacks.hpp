// `engine_callbacks` has the functions that nghttp2 calls while an engine receives or sends.
#pragma once

#include "gateway/http2/engine.hpp"
#include "gateway/http2/field_block.hpp"

#include <algorithm>
#include <nghttp2/nghttp2.h>
#include <string>

namespace gateway::http2 {

inline std::string_view text_of(const std::uint8_t* bytes, std::size_t size)
{
    return {reinterpret_cast<const char*>(bytes), size};
}

// The functions that nghttp2 calls, with `user` being the engine. Their parameters are its own.
// NOLINTBEGIN(readability-function-size)
struct engine_callbacks {
    // Frames are gathered up to this size, content included: what a read of an upstream's
    // connection brings, with headers. The copy is cheaper than a system call for each frame.
    static constexpr std::size_t most_gathered_bytes = 68 * 1024;
    static constexpr std::size_t frame_header_bytes = 9;
    // Most answers to PING and SETTINGS that wait for a peer that does not read.
    static constexpr std::size_t most_answers = 100;
    // Most bytes of a head that is sent, as nghttp2 estimates them: more than an upstream may send.
    static constexpr std::size_t most_head_bytes = 4 * 1024 * 1024;
    // Bytes of dropped fields that cost as much as a frame of their own.
    static constexpr std::size_t dropped_bytes_per_frame = 1024;
    // Most frames behind the first one of a server's head, which may have 1 MiB; a client may send
    // as many as the library allows.
    static constexpr std::size_t most_continuations = 80;
    // Most settings in one frame; seven are known.
    static constexpr std::size_t most_settings = 32;
    // A peer's resets are counted by engine_events, so that the library's own count is out of
    // reach.
    static constexpr std::uint64_t no_reset_limit = 1'000'000'000;

    static engine& engine_of(void* user) { return *static_cast<engine*>(user); }

    static stream_events* stream_of(nghttp2_session* session, stream_id id)
    {
        return static_cast<stream_events*>(nghttp2_session_get_stream_user_data(session, id));
    }

    static int begin_frame(nghttp2_session* session, const nghttp2_frame_hd* head, void* user)
    {
        const bool empty_content = head->type == NGHTTP2_DATA && head->length == 0 &&
                                   (head->flags & NGHTTP2_FLAG_END_STREAM) == 0;
        const bool of_message = head->type == NGHTTP2_DATA || head->type == NGHTTP2_HEADERS;
        // Content that is dropped costs nothing; a peer may not know yet that nobody wants it.
        const bool is_dropped_head =
            head->type == NGHTTP2_HEADERS &&
            head->stream_id <= nghttp2_session_get_last_proc_stream_id(session) &&
            stream_of(session, head->stream_id) == nullptr;
        if (!of_message || empty_content) {
            engine_of(user).events_.idle_frame(1);
        } else if (is_dropped_head) {
            engine_of(user).events_.idle_frame(1 + head->length / dropped_bytes_per_frame);
        }
        return 0;
    }

    static int begin_headers(nghttp2_session* session, const nghttp2_frame* frame, void* user)
    {
        engine& e = engine_of(user);
        e.fields_of_ = frame->hd.stream_id;
        e.decoded_bytes_ = 0;
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

    static int header(
        nghttp2_session* session,
        const nghttp2_frame* frame,
        const std::uint8_t* name,
        std::size_t name_size,
        const std::uint8_t* value,
        std::size_t value_size,
        std::uint8_t,
        void* user
    )
    {
        engine& e = engine_of(user);
        e.decoded_bytes_ += name_size + value_size;
        if (e.decoded_bytes_ > e.most_decoded_bytes_) {
            return NGHTTP2_ERR_CALLBACK_FAILURE;
        }
        if (stream_events* const to = stream_of(session, frame->hd.stream_id)) {
            to->field(text_of(name, name_size), text_of(value, value_size));
        }
        return 0;
    }

    // Refuses a message with a field that HTTP/2 does not allow, which nghttp2 would leave out.
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
        if (frame->hd.type == NGHTTP2_SETTINGS && (frame->hd.flags & NGHTTP2_FLAG_ACK) == 0) {
            e.events_.settings_came();
        }
        if (frame->hd.type == NGHTTP2_DATA && !last && frame->data.padlen != 0 &&
            frame->hd.length == frame->data.padlen) {
            // It has nothing but padding.
            e.events_.idle_frame(1);
        }
        stream_events* const to = stream_of(session, frame->hd.stream_id);
        if (frame->hd.type == NGHTTP2_HEADERS) {
            e.fields_of_ = 0;
            if (to != nullptr) {
                to->fields_ended(last);
            }
        } else if (frame->hd.type == NGHTTP2_DATA && last && to != nullptr) {
            to->content_ended();
        } else if (frame->hd.type == NGHTTP2_RST_STREAM && to != nullptr) {
            to->reset_came();
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
            to->stream_closed(error_code{error});
        }
        return 0;
    }

    // Counts a stream that the library refuses by itself, as it is one too many.
    static int invalid_frame(nghttp2_session*, const nghttp2_frame*, int why, void* user)
    {
        engine& e = engine_of(user);
        if (why == NGHTTP2_ERR_REFUSED_STREAM) {
            e.events_.stream_refused();
        } else if (e.complaint_.empty()) {
            e.complaint_ = nghttp2_strerror(why);
        }
        return 0;
    }

    // Resets a stream whose head cannot be sent, so that its peer does not wait for it.
    static int frame_not_sent(nghttp2_session* session, const nghttp2_frame* frame, int, void* user)
    {
        if (frame->hd.type == NGHTTP2_HEADERS && frame->headers.cat == NGHTTP2_HCAT_REQUEST) {
            engine_of(user).events_.request_not_sent(frame->hd.stream_id);
        } else if (frame->hd.type == NGHTTP2_HEADERS) {
            nghttp2_submit_rst_stream(session, 0, frame->hd.stream_id, NGHTTP2_INTERNAL_ERROR);
        }
        return 0;
    }

    // Says how much content follows, which send_data() sends.
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
        if (e.out_.size() + size <= most_gathered_bytes) {
            e.out_.append(content);
        } else {
            e.flush(content);
        }
        from.content_sent(size);
        return 0;
    }

    // Keeps the library's description of an error of the peer.
    static int describe_error(nghttp2_session*, int, const char* text, std::size_t size, void* user)
    {
        engine_of(user).complaint_.assign(text, size);
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
        nghttp2_session_callbacks_set_error_callback2(c, describe_error);
        return c;
    }

    static nghttp2_option* bounds(engine::role side)
    {
        nghttp2_option* o = nullptr;
        nghttp2_option_new(&o);
        nghttp2_option_set_no_auto_window_update(o, 1);
        nghttp2_option_set_no_closed_streams(o, 1);
        nghttp2_option_set_max_outbound_ack(o, most_answers);
        nghttp2_option_set_max_settings(o, most_settings);
        nghttp2_option_set_max_send_header_block_length(o, most_head_bytes);
        if (side == engine::role::client) {
            nghttp2_option_set_max_continuations(o, most_continuations);
        }
        nghttp2_option_set_stream_reset_rate_limit(o, no_reset_limit, no_reset_limit);
        return o;
    }
};

// NOLINTEND(readability-function-size)

}  // namespace gateway::http2
