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

// What ask() returns when it does not ask.
failure link::refuse(failure why, base::instant now)
{
    metrics_.failures[static_cast<std::size_t>(why)].add();
    if (breaker_.failed(why, now)) {
        report(why);
        probe_later();
    }
    return why;
}

std::optional<failure> link::ask(std::span<const charge> charges, question& q)
{
    const base::instant now = base::now();
    if (state_.closed()) {
        return failure::unreachable;
    }
    if (breaker_.open()) {
        return refuse(failure::open, now);
    }
    if (const auto why = state_.unusable(); why && !state_.awaited()) {
        return refuse(*why, now);
    }
    if (pending_.full() || outgoing_.size() - sent_ >= options_.max_outgoing_bytes) {
        return refuse(failure::overload, now);
    }
    sent_command& command = enqueue(sent_command::kind::take, now);
    const take_call call = next_call();
    encode_take(command.bytes, call, charges);
    command.number = call.number;
    command.charges = static_cast<std::uint8_t>(charges.size());
    remember(q, command.asker);
    if (state_.ready()) {
        metrics_.requests.add();
        send(command.bytes);
    }
    watch(command.deadline);
    return std::nullopt;
}

// Questions asked while the link was on its first way. Those whose time has run out are forgotten:
// nobody is to be charged for what has been decided without the store.
void link::send_what_waited()
{
    for (std::size_t left = pending_.size(); left > 0; --left) {
        question* const asker = forget(pending_.front().asker);
        sent_command waited = std::move(pending_.front());
        pending_.pop();
        if (asker != nullptr) {
            sent_command& command = pending_.push();
            command = std::move(waited);
            remember(*asker, command.asker);
            metrics_.requests.add();
            send(command.bytes);
        }
    }
}

take_call link::next_call()
{
    return {connector_->script_sha(), options_.key_prefix, ++last_number_};
}

sent_command& link::enqueue(sent_command::kind what, base::instant now)
{
    sent_command& command = pending_.push();
    command.what = what;
    command.asked = now;
    command.deadline = now + options_.timeout;
    return command;
}

// All that is sent in one turn of the loop leaves together, at its end.
void link::send(const std::string& bytes)
{
    outgoing_ += bytes;
    if (!flush_posted_ && !awaiting_writable_) {
        flush_posted_ = true;
        auto flush_now = [self = self_.lock()] {
            self->flush_posted_ = false;
            self->flush();
        };
        asio::post(executor_, std::move(flush_now));
    }
}

void link::flush()
{
    if (!state_.ready() || awaiting_writable_) {
        return;
    }
    while (sent_ < outgoing_.size()) {
        boost::system::error_code ec;
        const auto rest = asio::buffer(outgoing_) + sent_;
        sent_ += socket_.write_some(rest, ec);
        if (ec == asio::error::would_block) {
            awaiting_writable_ = true;
            auto writable = [self = self_.lock(),
                             generation = generation_](const boost::system::error_code&) {
                if (self->generation_ == generation) {
                    self->awaiting_writable_ = false;
                    self->flush();
                }
            };
            outgoing_.erase(0, std::exchange(sent_, 0));
            socket_.async_wait(net::stream_socket::wait_write, std::move(writable));
            return;
        }
        if (ec) {
            lose(failure::unreachable);
            return;
        }
    }
    outgoing_.clear();
    sent_ = 0;
}

void link::read_later()
{
    auto ready = [self = self_.lock(), generation = generation_](const boost::system::error_code&) {
        if (self->generation_ == generation) {
            self->readable();
        }
    };
    socket_.async_wait(net::stream_socket::wait_read, std::move(ready));
}

void link::readable()
{
    const std::uint64_t generation = generation_;
    for (int i = 0; i < reads_in_a_row; ++i) {
        boost::system::error_code ec;
        const std::size_t count = socket_.read_some(asio::buffer(incoming_), ec);
        if (ec == asio::error::would_block) {
            break;
        }
        if (ec) {
            lose(failure::unreachable);
            return;
        }
        reader_.feed(std::span{incoming_}.first(count));
        reply r;
        auto next = reader_.read(r);
        for (; next == reply_reader::next::reply; next = reader_.read(r)) {
            if (!handle(r) && generation_ == generation) {
                lose(failure::protocol);
            }
            if (generation_ != generation) {
                return;  // lost, maybe by somebody we called
            }
        }
        if (next == reply_reader::next::garbage) {
            lose(failure::protocol);
            return;
        }
    }
    read_later();
}

// The next reply, which is the oldest command's. False: it makes no sense.
bool link::handle(const reply& r)
{
    if (pending_.empty()) {
        return false;
    }
    const base::instant now = base::now();
    const auto what = pending_.front().what;
    const std::int64_t number = pending_.front().number;
    if (what == sent_command::kind::take) {
        handle_take(r, now);
        return true;
    }
    pending_.pop();
    switch (what) {
        case sent_command::kind::probe:
            return handle_probe(r, number);
        case sent_command::kind::load_script:
            script_on_its_way_ = false;
            break;
        case sent_command::kind::overdue_probe:
        case sent_command::kind::take:
            break;
    }
    return true;  // whether the script is there now, the next answer will tell
}

bool link::handle_probe(const reply& r, std::int64_t number)
{
    if (read_answer(r, number, 1)) {
        probe_ended(std::nullopt);
        return true;
    }
    if (r.what != reply::kind::error) {
        return false;
    }
    const complaint c = classify(r.text());
    if (c.reconnect) {
        lose(c.why);
        return true;
    }
    if (c.noscript) {
        load_script();
    }
    // Somebody else's value under the probe's key says nothing about the store.
    probe_ended(c.why == failure::corrupt ? std::nullopt : std::optional{c.why});
    return true;
}

void link::handle_take(const reply& r, base::instant now)
{
    sent_command& command = pending_.front();
    const auto given = read_answer(r, command.number, command.charges);
    if (!given && r.what != reply::kind::error) {
        lose(failure::protocol);
        return;
    }
    const complaint c = given ? complaint{} : classify(r.text());
    if (c.noscript && ask_again(command)) {
        return;
    }
    const base::duration took = now - command.asked;
    question* const asker = forget(command.asker);
    pending_.pop();
    if (asker != nullptr) {
        metrics_.duration.observe(took);
        if (given) {
            state_.proved();
            breaker_.succeeded(now);
            asker->answered(*given);
            return;
        }
    }
    const std::uint64_t generation = generation_;
    if (!given) {
        settle(asker, c.why, now);
    }
    if (c.reconnect && generation_ == generation) {
        lose(c.why);
    }
}

// The server had forgotten the script, so nothing was executed: teach it, and ask once more within
// the same deadline. False: not to be asked again.
bool link::ask_again(sent_command& forgotten)
{
    if (forgotten.sent_again || forgotten.asker == nullptr || pending_.full()) {
        return false;
    }
    question* const asker = forget(forgotten.asker);
    sent_command old = std::move(forgotten);
    pending_.pop();
    load_script();
    sent_command& again = pending_.push();
    again = std::move(old);
    again.sent_again = true;
    remember(*asker, again.asker);
    metrics_.requests.add();
    send(again.bytes);
    watch(again.deadline);
    return true;
}

void link::load_script()
{
    if (!script_on_its_way_) {
        script_on_its_way_ = true;
        sent_command& command = enqueue(sent_command::kind::load_script, base::now());
        encode_script_load(command.bytes);
        send(command.bytes);
    }
}

void link::settle(question* asker, failure why, base::instant now)
{
    if (asker == nullptr) {
        return;
    }
    refuse(why, now);
    asker->failed(why);
}

}  // namespace gateway::store::redis
