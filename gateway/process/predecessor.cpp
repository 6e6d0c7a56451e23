#include "gateway/process/predecessor.hpp"

#include "gateway/base/text.hpp"
#include "gateway/process/upgrade_channel.hpp"
#include "gateway/store/memory/memory_snapshot.hpp"
#include "gateway/telemetry/log.hpp"

#include <cstdlib>
#include <fcntl.h>
#include <stdexcept>
#include <string>
#include <sys/socket.h>
#include <unistd.h>

namespace gateway {

using telemetry::log;
using telemetry::log_level;
using upgrade_channel::word;

namespace {

bool is_stream_of_local_processes(int fd)
{
    int domain = 0;
    int type = 0;
    socklen_t size = sizeof domain;
    return ::getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 && domain == AF_UNIX &&
           ::getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_STREAM;
}

// Longest time that buckets stay locked after an answer that makes the older process ask again.
constexpr int longest_hold_ms = 10;

}  // namespace

predecessor::predecessor(store::memory_store& buckets) : buckets_(buckets)
{
    const char* const text = std::getenv(upgrade_channel::variable);
    const auto first = text == nullptr ? std::nullopt : base::parse_decimal(text, INT16_MAX);
    ::unsetenv(upgrade_channel::variable);
    if (first && is_stream_of_local_processes(static_cast<int>(*first))) {
        channel_ = net::socket(static_cast<int>(*first));
        file_ = net::socket(static_cast<int>(*first) + 1);
        was_there_ = true;
        ::fcntl(channel_.fd(), F_SETFD, FD_CLOEXEC);
        ::fcntl(file_.fd(), F_SETFD, FD_CLOEXEC);
    }
}

void predecessor::await_end()
{
    if (thread_.joinable()) {
        thread_.join();
    }
}

// It sends nothing before it is asked for its buckets, so that what comes is its end.
bool predecessor::serves() const
{
    return was_there_ && !upgrade_channel::comes(channel_, 0);
}

bool predecessor::take_buckets()
{
    upgrade_channel::send_word(channel_, word::prepared);
    // A process that calls the upgrade off kills this one before it closes the channel.
    if (upgrade_channel::receive_word(channel_) != word::buckets) {
        log(log_level::warning,
            "the process before this one has ended before it gave its buckets: this one goes on "
            "without them");
        return false;
    }
    const auto read = store::take_over(buckets_, file_.fd());
    file_.close();
    if (!read || !read->complaint.empty()) {
        throw std::runtime_error(
            "the buckets of the process before this one cannot be used: the file " +
            (read ? read->complaint : "is not there")
        );
    }
    log(log_level::info, "took " + std::to_string(read->buckets) + " buckets over");
    if (read->lost > 0) {
        log(log_level::warning,
            "no room for " + std::to_string(read->lost) +
                " more, which begin full: raise stores.local.max_buckets");
    }
    return true;
}

void predecessor::follow()
{
    if (!was_there_) {
        return;
    }
    drains_ = upgrade_channel::send_word(channel_, word::ready);
    thread_ = std::thread([this] { answer(); });
}

void predecessor::answer()
{
    for (;;) {
        if (!upgrade_channel::comes(channel_, longest_hold_ms)) {
            buckets_.end_swap();
            upgrade_channel::comes(channel_, -1);
        }
        const auto request = upgrade_channel::receive(channel_);
        if (!request || !upgrade_channel::send(channel_, buckets_.answer_swap(*request))) {
            break;
        }
    }
    buckets_.end_swaps();
    channel_.close();
    drains_ = false;
    log(log_level::info, "the process before this one has ended");
}

}  // namespace gateway
