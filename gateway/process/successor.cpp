#include "gateway/process/successor.hpp"

#include "config/text/units.hpp"
#include "gateway/process/upgrade_channel.hpp"
#include "gateway/store/memory/memory_snapshot.hpp"

#include <boost/asio/post.hpp>

#include <cerrno>
#include <csignal>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace gateway {

using upgrade_channel::word;

namespace {

// Time that a process has to log why it ends, once it has let go of the channel.
constexpr std::chrono::seconds last_words{1};
constexpr const char* ended_too_early = "ended before it was ready";

}  // namespace

successor::successor(const net::executor& executor, store::memory_store& buckets, outcome ended)
    : buckets_(buckets),
      ended_(std::move(ended)),
      timer_(executor),
      events_(executor),
      self_(std::make_shared<successor*>(this))
{}

successor::~successor()
{
    *self_ = nullptr;
    if (!serves_) {
        if (pid_ > 0) {
            end_of_process();
        }
        buckets_.stay();
    }
    if (events_.is_open()) {
        (void)events_.release();
    }
}

void successor::start(
    const own_start& how,
    const std::vector<startup::passed_socket>& listening,
    base::duration timeout
)
{
    auto ends = upgrade_channel::open();
    if (!ends) {
        fail("no channel: " + std::generic_category().message(errno));
        return;
    }
    channel_ = std::move(ends->first);
    const net::socket its_end = std::move(ends->second);
    file_ = net::socket(::memfd_create("buckets", MFD_CLOEXEC));
    if (file_.is_open()) {
        pid_ = start_process(how, listening, its_end.fd(), file_.fd());
    }
    if (pid_ < 0) {
        fail("no process: " + std::generic_category().message(errno));
        return;
    }
    boost::system::error_code unwatched;
    events_.assign(channel_.fd(), unwatched);
    if (unwatched) {
        fail("its channel cannot be watched: " + unwatched.message());
        return;
    }
    timer_.expires_after(timeout);
    timer_.async_wait([of = self_, timeout](const boost::system::error_code& ec) {
        if (!ec && *of != nullptr) {
            (*of)->fail("was not ready within " + config::format_duration(timeout));
        }
    });
    wait();
}

void successor::wait()
{
    events_.async_wait(
        boost::asio::posix::descriptor_base::wait_read,
        [of = self_](const boost::system::error_code& ec) {
            if (!ec && *of != nullptr) {
                (*of)->heard();
            }
        }
    );
}

void successor::heard()
{
    if (over_) {
        return;
    }
    const auto received = upgrade_channel::receive_word(channel_);
    if (received == word::prepared) {
        has_buckets_ = true;
        buckets_.leave();
        const auto complaint = store::hand_over(buckets_, file_.fd());
        if (complaint || !upgrade_channel::send_word(channel_, word::buckets)) {
            fail("could not get the buckets: " + complaint.value_or("it has ended"));
            return;
        }
        wait();
    } else if (received == word::ready) {
        serve();
    } else if (received == word::not_started) {
        const int error = upgrade_channel::receive_error(channel_);
        end_of_process();
        fail("could not be started: " + std::generic_category().message(error));
    } else if (has_buckets_) {
        fail(ended_too_early);
    } else {
        await_exit();
    }
}

// Waits for the end of the process, which has begun. Killed at once, it would not say why it ends.
// It has no buckets yet, so nobody waits for it.
void successor::await_exit()
{
    (void)events_.release();
    exit_ = net::socket(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));
    boost::system::error_code unwatched;
    events_.assign(exit_.fd(), unwatched);
    if (unwatched) {
        fail(ended_too_early);
        return;
    }
    const auto ends = [of = self_](const boost::system::error_code& ec) {
        if (!ec && *of != nullptr) {
            (*of)->fail(ended_too_early);
        }
    };
    events_.async_wait(boost::asio::posix::descriptor_base::wait_read, ends);
    timer_.expires_after(last_words);
    timer_.async_wait(ends);
}

void successor::serve()
{
    serves_ = true;
    over_ = true;
    timer_.cancel();
    (void)events_.release();
    file_.close();
    buckets_.follow(*this);
    ended_(std::nullopt);
}

// Ends the process and reports why. It must be gone before buckets may change here again.
void successor::fail(const std::string& why)
{
    if (std::exchange(over_, true)) {
        return;
    }
    timer_.cancel();
    const std::string how = pid_ > 0 ? ", " + end_of_process() : "";
    buckets_.stay();
    boost::asio::post(timer_.get_executor(), [of = self_, why = why + how] {
        if (*of != nullptr) {
            const outcome ended = (*of)->ended_;  // The call may destroy this object.
            ended(why);
        }
    });
}

// Kills the process if it still runs. Returns how it ended.
std::string successor::end_of_process()
{
    ::kill(pid_, SIGKILL);
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    if (WIFEXITED(status)) {
        return "with status " + std::to_string(WEXITSTATUS(status));
    }
    return "by signal " + std::to_string(WTERMSIG(status));
}

std::optional<std::string> successor::ask(std::string_view request)
{
    if (!channel_.is_open()) {
        return std::nullopt;
    }
    std::optional<std::string> answer;
    if (upgrade_channel::send(channel_, request)) {
        answer = upgrade_channel::receive(channel_);
    }
    if (!answer) {
        channel_.close();
    }
    return answer;
}

}  // namespace gateway
