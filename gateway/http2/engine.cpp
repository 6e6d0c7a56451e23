#include "gateway/http2/engine.hpp"

#include "gateway/http2/engine_callbacks.hpp"
#include "gateway/http2/session_memory.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace gateway::http2 {

namespace {

// Most frames that wait for a peer that does not read; content is not among them.
constexpr std::size_t most_queued_frames = 4000;
// Bytes of a head that are decoded for each byte that it may have: the connection stays in step,
// and the head is answered, up to there.
constexpr std::size_t decoded_bytes_per_bound = 4;

}  // namespace

void engine::freer::operator()(nghttp2_session* of) const
{
    nghttp2_session_del(of);
}

engine::engine(
    role side,
    const options& bounds,
    std::size_t max_header_bytes,
    engine_events& events,
    std::string& out
)
    : events_(events), out_(out), most_decoded_bytes_(decoded_bytes_per_bound * max_header_bytes)
{
    static nghttp2_session_callbacks* const callbacks = engine_callbacks::all();
    static nghttp2_option* const of_server = engine_callbacks::bounds(role::server);
    static nghttp2_option* const of_client = engine_callbacks::bounds(role::client);
    nghttp2_session* made = nullptr;
    const bool serves = side == role::server;
    const auto make = serves ? nghttp2_session_server_new3 : nghttp2_session_client_new3;
    nghttp2_option* const bounded = serves ? of_server : of_client;
    if (make(&made, callbacks, this, bounded, session_memory()) != 0) {
        throw std::bad_alloc();
    }
    session_.reset(made);
    submit_settings(side, bounds, max_header_bytes);
}

void engine::submit_settings(role side, const options& bounds, std::size_t max_header_bytes)
{
    const bool serves = side == role::server;
    const std::array<nghttp2_settings_entry, 5> settings{
        {serves
             ? nghttp2_settings_entry{NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, bounds.max_streams}
             : nghttp2_settings_entry{NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
         {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, bounds.stream_window},
         {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, static_cast<std::uint32_t>(max_header_bytes)},
         {NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES, 1},
         {NGHTTP2_SETTINGS_ENABLE_CONNECT_PROTOCOL, 1}}};
    // Only servers offer extended CONNECT (RFC 8441 §3).
    const std::size_t count = settings.size() - (serves ? 0 : 1);
    nghttp2_submit_settings(session_.get(), NGHTTP2_FLAG_NONE, settings.data(), count);
    nghttp2_session_set_local_window_size(
        session_.get(), NGHTTP2_FLAG_NONE, 0, static_cast<std::int32_t>(bounds.connection_window)
    );
}

engine::~engine() = default;

engine::failure engine::receive(std::span<const char> bytes)
{
    complaint_.clear();
    const auto* const data = reinterpret_cast<const std::uint8_t*>(bytes.data());
    const ssize_t taken = nghttp2_session_mem_recv(session_.get(), data, bytes.size());
    if (taken == NGHTTP2_ERR_FLOODED || taken == NGHTTP2_ERR_TOO_MANY_CONTINUATIONS ||
        nghttp2_session_get_outbound_queue_size(session_.get()) > most_queued_frames) {
        return failure::flooded;
    }
    if (decoded_bytes_ > most_decoded_bytes_) {
        return failure::large_head;
    }
    return taken < 0 ? failure::malformed : failure::none;
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
        if (out_.size() >= engine_callbacks::most_gathered_bytes) {
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

bool engine::accepts_requests() const
{
    return nghttp2_session_check_request_allowed(session_.get()) != 0;
}

std::size_t engine::most_requests() const
{
    return nghttp2_session_get_remote_settings(
        session_.get(), NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS
    );
}

stream_id engine::request(
    std::span<char> head, std::string_view scheme, bool last, stream_events& from
)
{
    const field_block block(scheme, head);
    nghttp2_data_provider content{};
    content.source.ptr = &from;
    content.read_callback = engine_callbacks::read_content;
    const stream_id id = nghttp2_submit_request(
        session_.get(), nullptr, block.data(), block.size(), last ? nullptr : &content, &from
    );
    return std::max(id, 0);
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

void engine::consume_stream(stream_id id, std::size_t bytes)
{
    nghttp2_session_consume_stream(session_.get(), id, bytes);
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
