#include "gateway/store/redis/link.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>

#include <utility>

namespace gateway::store::redis {

namespace asio = boost::asio;

namespace {

// Reads per readiness, so that a flood of replies does not keep the loop from its other work.
constexpr int reads_in_a_row = 4;

}  // namespace

link::sent_command& link::command(sent_command::kind what, std::int64_t number)
{
    sent_command& next = commands_.push();
    next.what = what;
    next.sent_again = false;
    next.number = number;
    next.bytes.clear();
    return next;
}

void link::send(const call& c)
{
    sent_command& next = command(sent_command::kind::take, c.number);
    encode_take(next.bytes, {connector_->script_sha(), options_.key_prefix}, c);
    send_bytes(next.bytes);
}

void link::send_probe(std::int64_t number)
{
    sent_command& next = command(sent_command::kind::probe, number);
    encode_probe(next.bytes, {connector_->script_sha(), options_.key_prefix}, number);
    send_bytes(next.bytes);
}

// At once: so the answer may be here before the turn of the loop ends. An error is met by who
// reads.
void link::send_bytes(const std::string& bytes)
{
    outgoing_ += bytes;
    flush();
}

void link::flush()
{
    while (!awaiting_writable_ && sent_ < outgoing_.size()) {
        boost::system::error_code ec;
        sent_ += socket_.write_some(asio::buffer(outgoing_) + sent_, ec);
        if (ec == asio::error::would_block) {
            flush_when_writable();
        } else if (ec) {
            break;
        }
    }
    if (!awaiting_writable_) {
        outgoing_.clear();
        sent_ = 0;
    }
}

void link::flush_when_writable()
{
    awaiting_writable_ = true;
    outgoing_.erase(0, std::exchange(sent_, 0));
    auto writable = [self = self_.lock(), generation = generation_](const auto&) {
        if (self->generation_ == generation) {
            self->awaiting_writable_ = false;
            self->flush();
        }
    };
    socket_.async_wait(net::stream_socket::wait_write, std::move(writable));
}

void link::read_later()
{
    auto ready = [self = self_.lock(), generation = generation_](const auto&) {
        if (self->generation_ == generation && self->receive()) {
            self->read_later();
        }
    };
    socket_.async_wait(net::stream_socket::wait_read, std::move(ready));
}

// Handles what has arrived. False: the connection is lost, or closed by somebody we called.
bool link::receive()
{
    const std::uint64_t generation = generation_;
    for (int i = 0; i < reads_in_a_row; ++i) {
        boost::system::error_code ec;
        const std::size_t count = socket_.read_some(asio::buffer(incoming_), ec);
        if (ec == asio::error::would_block) {
            break;
        }
        if (ec) {
            lose(failure::unreachable, ec.message());
            return false;
        }
        reader_.feed(std::span{incoming_}.first(count));
        auto next = reader_.read(reply_);
        for (; next == reply_reader::next::reply; next = reader_.read(reply_)) {
            if (!handle(reply_) || generation_ != generation) {
                return false;
            }
        }
        if (next == reply_reader::next::garbage) {
            lose(failure::protocol, {});
            return false;
        }
    }
    conversation_.turn_ended(base::now());
    return generation_ == generation;
}

// The reply to the oldest command. False: the connection is lost.
bool link::handle(const reply& r)
{
    if (commands_.empty()) {
        lose(failure::protocol, {});
        return false;
    }
    if (r.what == reply::kind::error) {
        sent_command answered = std::move(commands_.front());
        commands_.pop();
        return handle_error(std::move(answered), r.text());
    }
    const auto what = commands_.front().what;
    const std::int64_t number = commands_.front().number;
    commands_.pop();
    if (what == sent_command::kind::load_script) {
        script_on_its_way_ = false;
        return true;  // whether the script is there now, the next answer will tell
    }
    if (call_number(r) != number) {
        lose(failure::protocol, {});
        return false;
    }
    take_results results{r};
    return conversation_.answered(number, results, base::now());
}

bool link::handle_error(sent_command answered, std::string_view words)
{
    if (answered.what == sent_command::kind::load_script) {
        script_on_its_way_ = false;
        return true;
    }
    const complaint c = classify(words);
    if (c.noscript && ask_again(answered)) {
        return true;
    }
    std::string quoted = quotable(words, options_.password);
    if (c.reconnect) {
        lose(c.why, std::move(quoted));
        return false;
    }
    health_.note(c.why, std::move(quoted));
    conversation_.refused(answered.number, c.why, base::now());
    return true;
}

// The server had forgotten the script, so nothing was executed: teach it, and ask once more within
// the same deadline. False: not to be asked again.
bool link::ask_again(sent_command& forgotten)
{
    if (forgotten.sent_again) {
        return false;
    }
    if (!script_on_its_way_) {
        script_on_its_way_ = true;
        sent_command& script = command(sent_command::kind::load_script, 0);
        encode_script_load(script.bytes);
        send_bytes(script.bytes);
    }
    sent_command& again = commands_.push();
    again = std::move(forgotten);
    again.sent_again = true;
    send_bytes(again.bytes);
    return true;
}

}  // namespace gateway::store::redis
