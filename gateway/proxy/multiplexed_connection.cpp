#include "gateway/proxy/multiplexed_connection.hpp"

#include <algorithm>
#include <utility>

namespace gateway::proxy {

namespace {

http2::options bounds_of(const upstream_options& options)
{
    http2::options bounds;
    bounds.max_streams = options.max_streams;
    return bounds;
}

}  // namespace

multiplexed_connection::multiplexed_connection(
    net::loop& l,
    upstream_connection& c,
    multiplexed_owner& owner,
    const upstream_options& options,
    borrowed_texts& memory
)
    : loop_(l),
      connection_(&c),
      owner_(owner),
      options_(options),
      memory_(memory),
      engine_(
          http2::engine::role::client,
          bounds_of(options),
          options.response.max_header_bytes,
          *this,
          memory.frames
      )
{
    c.lease_to(this);
}

void multiplexed_connection::start(std::span<const char> early)
{
    if (!early.empty()) {
        receive(early);
    }
    settle();
}

// ---- streams ---------------------------------------------------------------------------------

std::size_t multiplexed_connection::most_requests() const
{
    return std::min<std::size_t>(options_.max_streams, engine_.most_requests());
}

upstream_stream* multiplexed_connection::open()
{
    const bool is_open = ready_ && !retired_ && !ended_ && engine_.accepts_requests();
    if (!is_open || streams_.size() >= most_requests()) {
        return nullptr;
    }
    upstream_stream& s = streams_.add(*this, connection_->to());
    s.begin(std::exchange(reused_, true));
    set_idle(false);
    silence_.begin(loop_.now(), streams_.size() == 1);
    arm();
    return &s;
}

http2::stream_id multiplexed_connection::request(
    std::string_view head, bool last, upstream_stream& from
)
{
    if (ended_) {
        return 0;
    }
    memory_.request.assign(head);
    const std::string_view scheme = connection_->tls() != nullptr ? "https" : "http";
    const http2::stream_id id = engine_.request(memory_.request, scheme, last, from);
    engine_.send_frames();
    return id;
}

void multiplexed_connection::send(
    http2::outgoing_content& by, std::string_view content, http2::stream_id id
)
{
    if (by.pending().empty() && !is_blocked()) {
        by.send(content, engine_, id);
    } else {
        by.keep(content);
        engine_.resume(id);
        engine_.send_frames();
    }
}

void multiplexed_connection::reset(http2::stream_id id)
{
    if (!ended_) {
        engine_.reset(id, http2::error_code::cancel);
        if (!receiving_) {
            engine_.send_frames();
        }
    }
}

void multiplexed_connection::consume(http2::stream_id id, std::size_t bytes)
{
    if (!ended_) {
        engine_.consume_stream(id, bytes);
    }
}

void multiplexed_connection::content_came(std::size_t bytes)
{
    engine_.consume_connection(bytes);
}

void multiplexed_connection::given_back(bool is_current)
{
    retired_ = retired_ || !is_current;
    look_after_soon();
}

bool multiplexed_connection::may_wait(std::size_t interim_bytes, bool is_awaited) const
{
    constexpr std::size_t heads_of_one_read = 16;
    const std::size_t heads = is_awaited ? heads_of_one_read : 1;
    return interim_bytes <= heads * options_.response.max_header_bytes;
}

http2::response_text& multiplexed_connection::head_of(http2::stream_id id)
{
    if (head_of_ != id) {
        forget_head();
        head_of_ = id;
    }
    return head_;
}

void multiplexed_connection::forget_head()
{
    head_of_ = 0;
    head_.clear();
    head_.release_memory();
}

std::string multiplexed_connection::complaint(http2::error_code why) const
{
    if (!lost_because_.empty()) {
        return lost_because_;
    }
    if (why == http2::error_code::refused_stream) {
        return "HTTP/2: the server refused the request";
    }
    std::string text = "HTTP/2: the response was broken off, with error ";
    text += std::to_string(static_cast<std::uint32_t>(why));
    return engine_.complaint().empty() ? text : text + " (" + engine_.complaint() + ")";
}

// Returns a sentence with what the engine says of the server's last error, or else with
// `otherwise`.
std::string multiplexed_connection::complaint_or(std::string_view otherwise) const
{
    const std::string& what = engine_.complaint();
    return std::string("HTTP/2: ").append(what.empty() ? otherwise : what);
}

// ---- looking after streams -------------------------------------------------------------------

void multiplexed_connection::look_after_soon()
{
    if (!in_event_ && !std::exchange(again_, true)) {
        loop_.data().again(*this);
    }
}

void multiplexed_connection::recheck()
{
    again_ = false;
    settle();
}

// Tells the owner, who counts them.
void multiplexed_connection::set_idle(bool idle)
{
    if (std::exchange(idle_, idle) == idle) {
        return;
    }
    if (!idle) {
        owner_.became_active(*this);
        return;
    }
    retired_ = !owner_.became_idle(*this) || retired_;
    arm();
}

// Ends each event: it tells lessees what has come, sends what is due, and finds out if the
// connection is over.
void multiplexed_connection::settle()
{
    in_event_ = true;
    do {
        announce();
        const std::size_t before = streams_.size();
        streams_.look_after_touched();
        if (!ended_ && streams_.size() < before) {
            owner_.connection_has_room(*this);
        }
        if (!ended_) {
            engine_.send_frames();
        }
    } while (streams_.any_touched());
    in_event_ = false;
    if (!ended_ && engine_.is_over()) {
        const bool in_order = engine_.complaint().empty();
        lose(
            complaint_or("the server ended the connection"),
            in_order ? loss::ended : loss::malformed_connection
        );
        settle();
        return;
    }
    if (!ended_ && ready_) {
        set_idle(streams_.empty());
    }
    const bool takes_none = retired_ || !engine_.accepts_requests();
    if (!ended_ && takes_none && streams_.empty()) {
        end();
    }
    if (!ended_) {
        connection_->want_read();
    } else if (streams_.empty() && !std::exchange(released_, true)) {
        loop_.data().release(*this);
    }
}

// Tells the owner once what became of the greeting.
void multiplexed_connection::announce()
{
    if (announced_ || !(ready_ || ended_)) {
        return;
    }
    announced_ = true;
    if (ended_) {
        const failure why = lost_in_tls_ ? failure::tls : failure::connect;
        owner_.connection_failed(*this, why, lost_because_);
    } else {
        owner_.connection_ready(*this);
    }
}

// ---- events of the connection ----------------------------------------------------------------

void multiplexed_connection::receive(std::span<const char> bytes)
{
    silence_.heard(loop_.now());
    receiving_ = true;
    const http2::engine::failure failed = engine_.receive(bytes);
    receiving_ = false;
    if (failed == http2::engine::failure::large_head) {
        lose(
            "HTTP/2: a header is far larger than max_response_header_bytes",
            loss::malformed_connection
        );
    } else if (failed != http2::engine::failure::none) {
        lose(complaint_or("the server does not keep to the protocol"), loss::malformed_connection);
    }
}

void multiplexed_connection::upstream_readable()
{
    std::span<char> bytes;
    const net::received got = connection_->receive(bytes);
    if (got == net::received::data) {
        receive(bytes);
    } else if (got != net::received::nothing) {
        const std::string_view tls = connection_->complaint();
        lost_in_tls_ = !tls.empty();
        lose(tls.empty() ? "HTTP/2: the connection ended before the response" : tls);
    }
    settle();
}

void multiplexed_connection::upstream_backlog_changed()
{
    streams_.for_each([](upstream_stream& s) { s.backlog_changed(); });
    settle();
}

void multiplexed_connection::upstream_drained()
{
    engine_.send_frames();
    streams_.for_each([this](upstream_stream& s) { touch(s); });
    settle();
}

void multiplexed_connection::upstream_broken()
{
    connection_->want_read();
}

void multiplexed_connection::request_not_sent(http2::stream_id id)
{
    streams_.for_each([id](upstream_stream& s) {
        if (s.id() == id) {
            s.stream_closed(http2::error_code::refused_stream);
        }
    });
    look_after_soon();
}

// ---- deadlines -------------------------------------------------------------------------------

// The greeting has the time of the attempt at the connection.
void multiplexed_connection::arm()
{
    if (ready_) {
        const base::instant idle_until = loop_.now() + options_.idle_timeout;
        loop_.wheel().arm(*this, streams_.empty() ? idle_until : silence_.deadline());
    }
}

void multiplexed_connection::expired(base::instant)
{
    const base::instant now = loop_.refresh_now();
    if (streams_.empty()) {
        end();
        settle();
        return;
    }
    switch (silence_.next(now)) {
        case silence_state::step::ask:
            engine_.ping();
            break;
        case silence_state::step::lost:
            lose("HTTP/2: the server does not answer PING");
            break;
        case silence_state::step::wait:
            break;
    }
    if (!ended_) {
        arm();
    }
    settle();
}

// ---- the end ---------------------------------------------------------------------------------

void multiplexed_connection::retire()
{
    retired_ = true;
    look_after_soon();
}

void multiplexed_connection::close()
{
    lose("the gateway closes the connection");
    look_after_soon();
}

// Gives up all streams, whose lessees learn why.
void multiplexed_connection::lose(std::string_view why, loss is)
{
    if (!ended_) {
        lost_because_ = why;
        streams_.for_each([is](upstream_stream& s) { s.lost(is); });
        end();
    }
}

void multiplexed_connection::end()
{
    if (!std::exchange(ended_, true)) {
        set_idle(false);
        engine_.end_now(http2::error_code::no_error);
        engine_.send_frames();
        loop_.wheel().disarm(*this);
        std::exchange(connection_, nullptr)->give_back(answer_port::disposition::close, false);
    }
}

}  // namespace gateway::proxy
