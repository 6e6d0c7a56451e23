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

// Questions answered from memory before the loop does something else.
constexpr int recalls_in_a_row = 128;

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

bool link::recalls(std::span<const charge> charges, base::instant now, answer& into) const
{
    return options_.remember_rejections && empty_.decides(charges, now, into);
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
    const bool full = waiting_.size() + under_way_.size() >= options_.max_pending;
    if (full || outgoing_.size() - sent_ >= options_.max_outgoing_bytes) {
        return refuse(failure::overload, now);
    }
    const pending_question asked{
        .charges = charges, .asked = now, .deadline = now + options_.timeout};
    if (may_send() && waiting_.empty()) {
        send_take(asked, q);
    } else {
        pending_question& last = waiting_.push();
        last = asked;
        remember(q, last.asker);
    }
    watch(asked.deadline);
    return std::nullopt;
}

void link::send_take(pending_question asked, question& asker)
{
    sent_command& command = under_way_.push();
    const take_call call = next_call();
    command.what = sent_command::kind::take;
    command.sent_again = false;
    command.number = call.number;
    command.question = asked;
    command.bytes.clear();
    encode_take(command.bytes, call, asked.charges);
    remember(asker, command.question.asker);
    metrics_.requests.add();
    send(command.bytes);
}

// Those whose turn has come. Calls askers whose question an earlier answer has decided.
void link::send_waiting()
{
    const std::uint64_t generation = generation_;
    const base::instant now = base::now();
    int recalled = 0;
    while (may_send() && !waiting_.empty()) {
        if (recalled == recalls_in_a_row) {
            send_waiting_later();
            return;
        }
        const pending_question next = take_waiting();
        if (next.asker == nullptr) {
            continue;
        }
        answer known;
        if (!recalls(next.charges, now, known)) {
            send_take(next, *next.asker);
            continue;
        }
        ++recalled;
        next.asker->answered(known);
        if (generation_ != generation) {
            return;  // closed by somebody we called
        }
    }
}

void link::send_waiting_later()
{
    if (send_posted_) {
        return;
    }
    send_posted_ = true;
    auto go_on = [self = self_.lock(), generation = generation_] {
        self->send_posted_ = false;
        if (self->generation_ == generation) {
            self->send_waiting();
        }
    };
    asio::post(executor_, std::move(go_on));
}

take_call link::next_call()
{
    return {connector_->script_sha(), options_.key_prefix, ++last_number_};
}

// A command of the link's own, which nobody asked for.
sent_command& link::enqueue(sent_command::kind what, base::instant now)
{
    sent_command& command = under_way_.push();
    command.what = what;
    command.question = {.asked = now, .deadline = now + options_.timeout};
    command.bytes.clear();
    return command;
}

// What an idle link is asked first leaves at once, so that its answer is here when the turn of the
// loop ends; the rest of the turn leaves together, at its end.
void link::send(const std::string& bytes)
{
    const bool idle = under_way_.size() == 1;
    outgoing_ += bytes;
    if (flush_posted_ || awaiting_writable_ || (idle && sends_at_once())) {
        return;
    }
    flush_posted_ = true;
    auto flush_now = [self = self_.lock()] {
        self->flush_posted_ = false;
        self->flush();
    };
    asio::post(executor_, std::move(flush_now));
}

// False: flush() has to, and meets the error if there was one.
bool link::sends_at_once()
{
    boost::system::error_code ec;
    sent_ += socket_.write_some(asio::buffer(outgoing_) + sent_, ec);
    if (sent_ < outgoing_.size()) {
        return false;
    }
    outgoing_.clear();
    sent_ = 0;
    return true;
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
            flush_when_writable();
            return;
        }
        if (ec) {
            note(failure::unreachable, ec.message());
            lose(failure::unreachable);
            return;
        }
    }
    outgoing_.clear();
    sent_ = 0;
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
    auto ready = [self = self_.lock(), generation = generation_](const boost::system::error_code&) {
        if (self->generation_ == generation) {
            self->readable();
        }
    };
    socket_.async_wait(net::stream_socket::wait_read, std::move(ready));
}

void link::readable()
{
    if (receive()) {
        read_later();
    }
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
            note(failure::unreachable, ec.message());
            lose(failure::unreachable);
            return false;
        }
        reader_.feed(std::span{incoming_}.first(count));
        reply r;
        auto next = reader_.read(r);
        for (; next == reply_reader::next::reply; next = reader_.read(r)) {
            if (!handle(r) && generation_ == generation) {
                lose(failure::protocol);
            }
            if (generation_ != generation) {
                return false;
            }
        }
        if (next == reply_reader::next::garbage) {
            lose(failure::protocol);
            return false;
        }
        send_waiting();
        if (generation_ != generation) {
            return false;
        }
    }
    return true;
}

// The next reply, which is the oldest command's. False: it makes no sense.
bool link::handle(const reply& r)
{
    if (under_way_.empty()) {
        return false;
    }
    const base::instant now = base::now();
    const auto what = under_way_.front().what;
    const std::int64_t number = under_way_.front().number;
    if (what == sent_command::kind::take) {
        handle_take(r, now);
        return true;
    }
    under_way_.pop();
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
    note(c.why, quotable(r.text(), options_.password));
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
    sent_command& command = under_way_.front();
    const auto given = read_answer(r, command.number, command.question.charges.size());
    if (!given && r.what != reply::kind::error) {
        lose(failure::protocol);
        return;
    }
    const complaint c = given ? complaint{} : classify(r.text());
    if (c.noscript && ask_again(command)) {
        return;
    }
    const pending_question asked = claim(command.question);
    under_way_.pop();
    if (asked.asker != nullptr) {
        metrics_.duration.observe(now - asked.asked);
        if (given) {
            if (options_.remember_rejections) {
                empty_.remember(asked.charges, *given, now);
            }
            state_.proved();
            breaker_.succeeded(now);
            asked.asker->answered(*given);
            return;
        }
    }
    const std::uint64_t generation = generation_;
    if (!given) {
        note(c.why, quotable(r.text(), options_.password));
        fail(asked, c.why, now);
    }
    if (c.reconnect && generation_ == generation) {
        lose(c.why);
    }
}

// The server had forgotten the script, so nothing was executed: teach it, and ask once more within
// the same deadline. False: not to be asked again.
bool link::ask_again(sent_command& forgotten)
{
    question* const asker = forgotten.question.asker;
    if (forgotten.sent_again || asker == nullptr || under_way_.full()) {
        return false;
    }
    sent_command old = std::move(forgotten);
    under_way_.pop();
    load_script();
    sent_command& again = under_way_.push();
    again = std::move(old);
    again.sent_again = true;
    remember(*asker, again.question.asker);
    metrics_.requests.add();
    send(again.bytes);
    watch(again.question.deadline);
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

// What other answers said of its bucket still decides a question that fails: a client that is known
// to be limited is rejected, whatever happens to the server.
void link::fail(const pending_question& asked, failure why, base::instant now)
{
    if (asked.asker == nullptr) {
        return;
    }
    if (answer known; recalls(asked.charges, now, known)) {
        asked.asker->answered(known);
        return;
    }
    refuse(why, now);
    asked.asker->failed(why);
}

}  // namespace gateway::store::redis
