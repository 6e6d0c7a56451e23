#include "gateway/admin/stream/viewers.hpp"

#include "gateway/admin/stream/event_id.hpp"

#include <algorithm>
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <utility>

namespace gateway::admin {

namespace {

// A browser asks again a second after it has lost the stream.
constexpr std::string_view prologue = "retry: 1000\n\n";

}  // namespace

class viewers::progress {
public:
    explicit progress(base::instant now) : at_(now) {}

    // True if nothing was taken for longer than `patience`, although something was sent.
    bool is_stalled(int descriptor, std::uint64_t sent, base::instant now, base::duration patience)
    {
        int waiting = 0;
        if (::ioctl(descriptor, SIOCOUTQ, &waiting) != 0 || waiting == 0) {
            at_ = now;
            return false;
        }
        const std::uint64_t taken = sent - std::min(sent, static_cast<std::uint64_t>(waiting));
        if (taken > taken_) {
            taken_ = taken;
            at_ = now;
        }
        return now - at_ > patience;
    }

private:
    std::uint64_t taken_ = 0;
    base::instant at_;
};

viewers::viewers(std::shared_ptr<watch> of, std::size_t most_connections, base::duration patience)
    : watch_(std::move(of)), room_(std::min(most, most_connections / 2)), patience_(patience)
{}

net::task<> viewers::show(probes::control_stream& s, probes::control_response head, viewing what)
{
    const std::uint64_t seen = event_number(what.seen, watch_->process());
    watch_->begin_view(seen);
    s.expires_after(patience_);
    const boost::system::error_code failed = co_await probes::write(s, head);
    if (!failed) {
        co_await send_events(s, std::move(what), seen);
    }
    watch_->end_view();
}

net::task<> viewers::send_events(probes::control_stream& s, viewing what, std::uint64_t seen)
{
    const int descriptor = s.socket().native_handle();
    boost::system::error_code ignored;
    s.socket().set_option(
        boost::asio::socket_base::send_buffer_size(static_cast<int>(piece_bytes)), ignored
    );
    progress taken(base::now());
    std::uint64_t sent = 0;
    std::string text{prologue};
    while (!ended_ && !taken.is_stalled(descriptor, sent, base::now(), patience_)) {
        seen = watch_->append_events(text, seen, what.for_whom, piece_bytes);
        if (text.empty()) {
            co_await watch_->next_second();
            continue;
        }
        s.expires_after(patience_);
        if (co_await probes::write(s, std::string_view{text})) {
            break;
        }
        sent += text.size();
        text.clear();
    }
}

void viewers::end()
{
    ended_ = true;
    watch_->wake_viewers();
}

}  // namespace gateway::admin
