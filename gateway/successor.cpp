#include "gateway/successor.hpp"

#include "config/units.hpp"
#include "gateway/inherited_sockets.hpp"
#include "gateway/store/memory_snapshot.hpp"
#include "gateway/upgrade_channel.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace gateway {

using upgrade_channel::word;

namespace {

constexpr int cannot_start = 127;
// In which a process that has let go of the channel says why it ends.
constexpr std::chrono::seconds last_words{1};
constexpr const char* ended_too_early = "ended before it was ready";
constexpr std::string_view pid_variable = "LISTEN_PID=";

// All that is needed between fork() and execve(), where no memory may be taken any more.
struct start_plan {
    std::string path;
    std::vector<std::string> words;
    // The first one is room for LISTEN_PID.
    std::vector<std::string> environment;
    std::vector<int> descriptors;
    // Without duplicates above those that are meant.
    std::vector<int> moved;
    std::vector<char*> word_pointers;
    std::vector<char*> environment_pointers;
};

bool names_what_is_passed_on(std::string_view variable)
{
    constexpr std::array<std::string_view, 4> ours{
        pid_variable, "LISTEN_FDS=", "LISTEN_FDNAMES=", "GATEWAY_UPGRADE="};
    return std::any_of(ours.begin(), ours.end(), [variable](std::string_view name) {
        return variable.starts_with(name);
    });
}

std::vector<char*> pointers_to(std::vector<std::string>& texts)
{
    std::vector<char*> all;
    all.reserve(texts.size() + 1);
    for (std::string& text : texts) {
        all.push_back(text.data());
    }
    all.push_back(nullptr);
    return all;
}

// With these descriptors from 3 on: those that listen, then the channel and the file.
start_plan plan_of(const own_start& how, const std::vector<int>& listening, int channel, int file)
{
    start_plan p;
    p.path = how.path;
    p.words = how.words;
    p.descriptors = listening;
    p.descriptors.push_back(channel);
    p.descriptors.push_back(file);
    p.moved.resize(p.descriptors.size());
    p.environment.push_back(std::string{pid_variable} + std::string(20, '\0'));
    p.environment.push_back("LISTEN_FDS=" + std::to_string(listening.size()));
    const auto first = startup::first_inherited_descriptor + static_cast<int>(listening.size());
    p.environment.push_back(std::string{upgrade_channel::variable} + '=' + std::to_string(first));
    for (char** variable = environ; *variable != nullptr; ++variable) {
        if (!names_what_is_passed_on(*variable)) {
            p.environment.emplace_back(*variable);
        }
    }
    p.word_pointers = pointers_to(p.words);
    p.environment_pointers = pointers_to(p.environment);
    return p;
}

void write_decimal(char* to, pid_t number)
{
    std::array<char, 20> digits{};
    std::size_t count = 0;
    do {
        digits[count++] = static_cast<char>('0' + number % 10);
        number /= 10;
    } while (number > 0);
    std::reverse_copy(digits.begin(), digits.begin() + count, to);
    to[count] = '\0';
}

// In the child of a process with threads: system calls only.
[[noreturn]] void become(start_plan& p)
{
    const int first = startup::first_inherited_descriptor;
    const int behind = first + static_cast<int>(p.descriptors.size());
    for (std::size_t i = 0; i < p.descriptors.size(); ++i) {
        p.moved[i] = ::fcntl(p.descriptors[i], F_DUPFD_CLOEXEC, behind);
    }
    for (std::size_t i = 0; i < p.moved.size(); ++i) {
        if (p.moved[i] < 0 || ::dup2(p.moved[i], first + static_cast<int>(i)) < 0) {
            ::_exit(cannot_start);
        }
    }
    // Nothing else may stay open: a connection of ours would not end with us.
    ::syscall(SYS_close_range, behind, ~0U, 0);
    write_decimal(p.environment[0].data() + pid_variable.size(), ::getpid());
    ::execve(p.path.c_str(), p.word_pointers.data(), p.environment_pointers.data());
    const std::array<char, 2> why{static_cast<char>(word::not_started), static_cast<char>(errno)};
    const int channel = behind - 2;
    ::send(channel, why.data(), why.size(), MSG_NOSIGNAL);
    ::_exit(cannot_start);
}

}  // namespace

own_start own_start_of(int argc, const char* const* argv)
{
    own_start how{.path = argv[0], .words = {argv, argv + argc}};
    if (how.path.find('/') != std::string::npos) {
        how.path = std::filesystem::absolute(how.path).string();
        return how;
    }
    const char* const path = std::getenv("PATH");
    std::string_view left = path == nullptr ? "/usr/local/bin:/usr/bin:/bin" : path;
    while (!left.empty()) {
        const std::size_t end = std::min(left.find(':'), left.size());
        const auto file = std::filesystem::absolute(left.substr(0, end)) / how.path;
        if (::access(file.c_str(), X_OK) == 0) {
            how.path = file.string();
            break;
        }
        left.remove_prefix(std::min(end + 1, left.size()));
    }
    return how;
}

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
    const own_start& how, const std::vector<int>& listening, base::duration timeout
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
    start_plan plan = plan_of(how, listening, its_end.fd(), file_.fd());
    pid_ = file_.is_open() ? ::fork() : -1;
    if (pid_ == 0) {
        become(plan);
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
    const auto said = upgrade_channel::hear(channel_);
    if (said == word::prepared) {
        has_buckets_ = true;
        buckets_.leave();
        const auto complaint = store::hand_over(buckets_, file_.fd());
        if (complaint || !upgrade_channel::say(channel_, word::buckets)) {
            fail("could not get the buckets: " + complaint.value_or("it has ended"));
            return;
        }
        wait();
    } else if (said == word::ready) {
        serve();
    } else if (said == word::not_started) {
        const int error = upgrade_channel::hear_error(channel_);
        end_of_process();
        fail("could not be started: " + std::generic_category().message(error));
    } else if (has_buckets_) {
        fail(ended_too_early);
    } else {
        await_exit();
    }
}

// It has begun to end. Killed at once, it would not say why; and of buckets it has none yet, so
// that nobody waits for it.
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

// It must be no more before buckets may change here again.
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
            const outcome ended = (*of)->ended_;  // which may destroy this
            ended(why);
        }
    });
}

// How it ended, or was made to.
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
