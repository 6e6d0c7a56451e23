// Sends calls to a node of a cluster in parts, which other nodes may have to answer.
#include "gateway/store/redis/cluster/slot.hpp"
#include "gateway/store/redis/link.hpp"
#include "gateway/store/redis/protocol/complaint.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace gateway::store::redis {

namespace asio = boost::asio;

void link::send_parts(const call& c)
{
    call_parts& parts = *parts_under(0);
    parts.begin(c);
    std::string all;
    for (std::size_t i = 0; i < parts.count(); ++i) {
        const std::string prefix = tagged(options_.key_prefix, parts.tag(i));
        sent_command& next = command(sent_command::kind::part, c.number);
        next.origin = std::static_pointer_cast<link>(self());
        next.part = i;
        next.until = c.sent + options_.timeout;
        const encoding_options how{
            .key_prefix = prefix, .unix_now = base::unix_time(), .epoch = epoch_keys::none};
        encoded_call encoded = encode(c.number, parts.questions(i), how);
        encode_take(next.bytes, script_sha_, encoded);
        parts.encoded(i, std::move(encoded.shape));
        all += next.bytes;
    }
    channel_->send(all);
}

bool link::carry(const sent_command& part)
{
    if (!conversation().link().ready() || commands_.size() > max_carried) {
        return false;
    }
    send_command(part);
    return true;
}

// Sends a command, with ASKING before it if that is needed, in one write.
void link::send_command(sent_command part)
{
    std::string all;
    if (part.asking) {
        sent_command& first = command(sent_command::kind::asking, 0);
        encode(first.bytes, std::array<std::string_view, 1>{"ASKING"});
        all = first.bytes;
    }
    all += part.bytes;
    commands_.push() = std::move(part);
    channel_->send(all);
}

// Gives a reply to the link whose call the part is of. Returns false if it is no reply to that
// part.
bool link::handle_part(const sent_command& answered, const reply& r)
{
    const auto origin = answered.origin.lock();
    return origin == nullptr || origin->part_answered(answered.number, answered.part, r);
}

void link::handle_part_error(sent_command answered, std::string_view words)
{
    const complaint c = classify(words);
    if (c.noscript && ask_again(answered)) {
        return;
    }
    if (const auto elsewhere = redirection_in(words)) {
        if (answered.hops++ < sent_command::max_hops) {
            cluster_->redirect(connector_.address(), *elsewhere, std::move(answered));
            return;
        }
        fail_part(answered, failure::loading, taken::no);
        return;
    }
    std::string quoted = quotable(words, options_.password);
    fail_part(answered, c.why, taken::no);
    if (cluster_ == nullptr) {  // the failure's receiver has destroyed the store
        return;
    }
    if (c.reconnect) {
        lose(c.why, std::move(quoted));
        return;
    }
    health_.note(c.why, std::move(quoted));
    cluster_->doubt();
}

void link::fail_part(const sent_command& part, failure why, taken tokens)
{
    if (const auto origin = part.origin.lock()) {
        origin->part_failed(part.number, part.part, why, tokens);
    }
}

// Fails the parts of other nodes' calls when the connection has gone. This is done later, as
// the receiver of a failure may do anything.
void link::fail_carried()
{
    std::vector<sent_command> carried;
    for (std::size_t i = 0; i < commands_.size(); ++i) {
        if (commands_[i].what == sent_command::kind::part &&
            commands_[i].origin.lock().get() != this) {
            carried.push_back(std::move(commands_[i]));
        }
    }
    if (!carried.empty()) {
        asio::post(loop_.get_executor(), [carried = std::move(carried)] {
            for (const sent_command& part : carried) {
                fail_part(part, failure::unreachable, taken::perhaps);
            }
        });
    }
    for (call_parts& parts : parts_) {
        parts.end();
    }
}

// Returns the parts of the call of that number, or a free element for 0. Null if the call is
// settled.
call_parts* link::parts_under(std::int64_t number)
{
    const auto is_it = [number](const call_parts& p) { return p.number() == number; };
    const auto found = std::find_if(parts_.begin(), parts_.end(), is_it);
    return found == parts_.end() ? nullptr : &*found;
}

bool link::part_answered(std::int64_t number, std::size_t part, const reply& r)
{
    call_parts* const parts = parts_under(number);
    if (parts == nullptr) {
        return true;
    }
    if (!parts->answered(part, r)) {
        return false;
    }
    settle_if_complete(*parts);
    return true;
}

void link::part_failed(std::int64_t number, std::size_t part, failure why, taken tokens)
{
    if (call_parts* const parts = parts_under(number); parts != nullptr) {
        parts->failed(part, why, tokens);
        settle_if_complete(*parts);
    }
}

void link::settle_if_complete(call_parts& parts)
{
    if (!parts.complete()) {
        return;
    }
    const std::int64_t number = parts.number();
    if (const auto why = parts.failed_all()) {
        conversation().refused(number, *why, parts.tokens_of_all(), base::now());
    } else {
        conversation().answered(number, parts, base::now());
    }
    if (parts.number() == number) {
        parts.end();
    }
    // Waiting questions may be sent now. This may be the turn of another link, which does not send
    // them.
    wake_after_turn();
}

}  // namespace gateway::store::redis
