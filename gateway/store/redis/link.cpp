#include "gateway/store/redis/link.hpp"

#include "gateway/store/redis/cluster/slot.hpp"
#include "gateway/store/redis/protocol/complaint.hpp"
#include "gateway/store/remote/reply_parser.hpp"
#include "gateway/telemetry/log.hpp"

#include <utility>

namespace gateway::store::redis {

link::channel::channel(net::loop& l, net::socket connected, link& of)
    : connection(l, std::move(connected)), link_(&of)
{
    if (auto tls = of.tls_.connect(of.connector_.address())) {
        speak_tls(std::move(tls));
    }
}

sent_command& link::command(sent_command::kind what, std::int64_t number)
{
    sent_command& next = commands_.push();
    next.what = what;
    next.sent_again = false;
    next.number = number;
    next.bytes.clear();
    next.shape.clear();
    next.origin.reset();
    next.hops = 0;
    next.asking = false;
    return next;
}

void link::send(const call& c)
{
    if (cluster_ != nullptr) {
        send_parts(c);
        return;
    }
    sent_command& next = command(sent_command::kind::take, c.number);
    encoded_call encoded =
        encode(c, {.key_prefix = options_.key_prefix, .unix_now = base::unix_time()});
    encode_take(next.bytes, script_sha_, encoded);
    next.shape = std::move(encoded.shape);
    channel_->send(next.bytes);
}

void link::send_probe(std::int64_t number)
{
    sent_command& next = command(sent_command::kind::probe, number);
    encoding_options how{.key_prefix = options_.key_prefix};
    std::string tagged_prefix;
    if (cluster_ != nullptr) {
        tagged_prefix = tagged(options_.key_prefix, cluster_->probe_tag(connector_.address()));
        how = {.key_prefix = tagged_prefix, .epoch = epoch_keys::none};
    }
    encoded_call encoded = encode_probe(number, how);
    encode_take(next.bytes, script_sha_, encoded);
    next.shape = std::move(encoded.shape);
    channel_->send(next.bytes);
}

void link::found_corrupt(std::span<const pending_question> asked)
{
    const auto key = [this](const charge& c) {
        const std::string& prefix = options_.key_prefix;
        return key_of(cluster_ == nullptr ? prefix : tagged(prefix, tag_of(c)), c);
    };
    if (const auto line = corrupt_keys_.found(asked, key, base::now())) {
        telemetry::log(telemetry::log_level::warning, *line);
    }
}

// Takes what has arrived. The connection may be lost, or closed by somebody who was called.
void link::receive()
{
    const channel* const mine = channel_;
    std::span<char> bytes;
    const net::received got = channel_->receive(bytes);
    if (std::string why = channel_->complaint(); !why.empty()) {
        lose(failure::config, std::move(why));
        return;
    }
    if (got == net::received::closed || got == net::received::broken) {
        lose(
            failure::unreachable,
            got == net::received::closed ? "the server closed the connection"
                                         : "the connection broke"
        );
        return;
    }
    channel_->want_read();
    if (got == net::received::nothing) {
        return;
    }
    reader_.feed(bytes);
    auto next = reader_.read(reply_);
    for (; next == reply_reader::next::reply; next = reader_.read(reply_)) {
        if (!handle(reply_) || channel_ != mine) {
            return;
        }
    }
    if (next == reply_reader::next::garbage) {
        lose(failure::protocol, {});
    } else if (!greeting_) {
        conversation().turn_ended(base::now());
    }
}

// Takes a reply. Returns false if the connection is lost.
bool link::handle(const reply& r)
{
    if (greeting_) {
        return greet(r);
    }
    if (commands_.empty()) {
        lose(failure::protocol, {});
        return false;
    }
    if (r.what == reply::kind::error) {
        sent_command answered = std::move(commands_.front());
        commands_.pop();
        return handle_error(std::move(answered), r.text());
    }
    return handle_result(r);
}

// Takes the reply to the oldest command. Returns false if the connection is lost.
bool link::handle_result(const reply& r)
{
    const auto what = commands_.front().what;
    const std::int64_t number = commands_.front().number;
    if (what == sent_command::kind::part) {
        const sent_command answered = std::move(commands_.front());
        commands_.pop();
        if (!handle_part(answered, r)) {
            fail_part(answered, failure::protocol, taken::perhaps);
            lose(failure::protocol, {});
            return false;
        }
        return true;
    }
    const auto shape = std::move(commands_.front().shape);
    commands_.pop();
    if (what == sent_command::kind::asking) {
        return true;
    }
    if (what == sent_command::kind::load_script) {
        script_on_its_way_ = false;
        return true;  // the next answer will show if the script is there now
    }
    if (call_number(r) != (cluster_ == nullptr ? number : -number)) {
        lose(failure::protocol, {});
        return false;
    }
    reply_parser results{r.all(), shape};
    return conversation().answered(number, results, base::now());
}

bool link::handle_error(sent_command answered, std::string_view words)
{
    if (answered.what == sent_command::kind::load_script) {
        script_on_its_way_ = false;
        return true;
    }
    if (answered.what == sent_command::kind::asking) {
        return true;  // the part that follows will be redirected
    }
    if (answered.what == sent_command::kind::part) {
        const channel* const mine = channel_;
        handle_part_error(std::move(answered), words);
        return channel_ == mine;
    }
    const complaint c = classify(words);
    if (c.noscript && ask_again(answered)) {
        return true;
    }
    std::string quoted = quotable(words, options_.password);
    if (c.reconnect) {
        if (c.why == failure::readonly) {
            connector_.denied();
        }
        lose(c.why, std::move(quoted));
        return false;
    }
    health_.note(c.why, std::move(quoted));
    conversation().refused(answered.number, c.why, taken::no, base::now());
    return true;
}

// Loads the script into a server that had forgotten it, and sends the command, which was therefore
// not executed, once more within the same deadline. Returns false if that has been done already.
bool link::ask_again(sent_command& forgotten)
{
    if (forgotten.sent_again) {
        return false;
    }
    if (!script_on_its_way_) {
        script_on_its_way_ = true;
        sent_command& script = command(sent_command::kind::load_script, 0);
        encode_script_load(script.bytes);
        channel_->send(script.bytes);
    }
    forgotten.sent_again = true;
    send_command(std::move(forgotten));
    return true;
}

}  // namespace gateway::store::redis
