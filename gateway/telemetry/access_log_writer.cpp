#include "gateway/telemetry/access_log.hpp"
#include "gateway/telemetry/log.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <csignal>
#include <mutex>
#include <poll.h>
#include <pthread.h>
#include <thread>
#include <utility>
#include <vector>

namespace gateway::telemetry {

namespace {

std::uint64_t count_lines(std::string_view lines)
{
    return static_cast<std::uint64_t>(std::count(lines.begin(), lines.end(), '\n'));
}

// Blocks all signals while it lives. Signals are for the main thread, and a reader that went away
// must not kill the process.
class signals_blocked {
public:
    signals_blocked()
    {
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_BLOCK, &all, &before_);
    }

    ~signals_blocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

    signals_blocked(const signals_blocked&) = delete;
    signals_blocked& operator=(const signals_blocked&) = delete;

private:
    sigset_t before_{};
};

}  // namespace

struct access_log_writer::state {
    explicit state(std::unique_ptr<log_output> first) : output(std::move(first)) {}

    void run();
    void write_out(std::string_view lines);
    bool wait_writable();
    bool change_output();

    const base::duration to_unix = base::unix_time() - base::now().time_since_epoch();
    std::unique_ptr<log_output> output;  // Used by the thread only.
    std::atomic<bool> access{false};
    std::atomic<log_format> format{};
    std::atomic<std::size_t> max_backlog_bytes{0};
    std::atomic<base::duration> flush_timeout{};
    std::atomic<std::uint64_t> dropped{0};

    std::mutex mutex;                         // Guards the next three members.
    std::unique_ptr<log_output> next_output;  // Null: the present one stays.
    std::vector<std::string> backlog;
    std::size_t backlog_bytes = 0;  // Includes lines that are being written.
    std::condition_variable filled;
    std::atomic<bool> stopping{false};  // Set under the mutex.
    std::atomic<bool> changing{false};  // There is a next output. Set under the mutex.

    bool gave_up = false;  // Used by the thread only: the reader stalled past flush_timeout.

    std::thread thread;  // Last, as it uses all members above.
};

void access_log_writer::state::run()
{
    std::vector<std::string> batch;
    for (;;) {
        {
            std::unique_lock lock(mutex);
            filled.wait(lock, [this] { return stopping || changing || !backlog.empty(); });
            if (backlog.empty() && !changing) {
                return;
            }
            batch.swap(backlog);
        }
        change_output();
        for (const std::string& lines : batch) {
            write_out(lines);
            const std::lock_guard lock(mutex);
            backlog_bytes -= lines.size();
        }
        batch.clear();
    }
}

// Takes the next output, if there is one. Closes the present one without the lock, as that may take
// time.
bool access_log_writer::state::change_output()
{
    if (!changing) {
        return false;
    }
    std::unique_ptr<log_output> next;
    {
        const std::lock_guard lock(mutex);
        next = std::move(next_output);
        changing = false;
    }
    output = std::move(next);
    gave_up = false;
    return true;
}

// Polls before each write, as a blocking write to a stalled reader could not be canceled.
void access_log_writer::state::write_out(std::string_view lines)
{
    const std::string_view all = lines;
    while (!lines.empty()) {
        if (gave_up || !wait_writable()) {
            gave_up = true;
            dropped += count_lines(lines);
            return;
        }
        if (change_output() && lines.size() < all.size() &&
            all[all.size() - lines.size() - 1] != '\n') {
            lines.remove_prefix(std::min(lines.find('\n') + 1, lines.size()));
            ++dropped;
            continue;
        }
        const std::ptrdiff_t n = output->write(lines);
        if (n < 0) {
            dropped += count_lines(lines);
            return;
        }
        lines.remove_prefix(static_cast<std::size_t>(n));
    }
}

// Returns false if the writer is stopping and the reader has not moved for flush_timeout. Returns
// early if there is another output.
bool access_log_writer::state::wait_writable()
{
    constexpr int slice_ms = 50;  // Longest time until a stop is noticed.
    base::duration waited{0};     // Time since the stop.
    for (;;) {
        pollfd writable{.fd = output->fd(), .events = POLLOUT, .revents = 0};
        const bool stop = stopping;
        if (changing || ::poll(&writable, 1, slice_ms) != 0) {
            return true;  // Writable, or an error that write() will report.
        }
        waited += stop ? base::duration{std::chrono::milliseconds{slice_ms}} : base::duration{0};
        if (stop && waited >= flush_timeout.load()) {
            return false;
        }
    }
}

access_log_writer::access_log_writer(std::unique_ptr<log_output> output, const log_options& options)
    : state_(std::make_unique<state>(std::move(output)))
{
    configure(options);
    const signals_blocked inherited;  // The new thread inherits the mask.
    state_->thread = std::thread([s = state_.get()] { s->run(); });
}

access_log_writer::~access_log_writer()
{
    {
        const std::lock_guard lock(state_->mutex);
        state_->stopping = true;
    }
    state_->filled.notify_one();
    state_->thread.join();
}

bool access_log_writer::enabled() const
{
    return state_->access.load(std::memory_order_relaxed);
}

log_format access_log_writer::format() const
{
    return state_->format.load(std::memory_order_relaxed);
}

void access_log_writer::configure(const log_options& options)
{
    state_->access = options.access;
    state_->format = options.format;
    state_->max_backlog_bytes = options.max_backlog_bytes;
    state_->flush_timeout = options.flush_timeout;
}

void access_log_writer::write_to(const log_target& target)
{
    opened_output opened = open_output(target);
    if (opened.output == nullptr) {
        log(log_level::error, "log.output: the old one stays: cannot open " + opened.complaint);
        return;
    }
    {
        const std::lock_guard lock(state_->mutex);
        state_->next_output = std::move(opened.output);
        state_->changing = true;
    }
    state_->filled.notify_one();
}

void access_log_writer::submit(std::string lines)
{
    {
        const std::lock_guard lock(state_->mutex);
        if (state_->backlog_bytes + lines.size() > state_->max_backlog_bytes) {
            state_->dropped += count_lines(lines);
            return;
        }
        state_->backlog_bytes += lines.size();
        state_->backlog.push_back(std::move(lines));
    }
    state_->filled.notify_one();
}

std::uint64_t access_log_writer::dropped_lines() const
{
    return state_->dropped.load(std::memory_order_relaxed);
}

base::duration access_log_writer::to_unix() const
{
    return state_->to_unix;
}

}  // namespace gateway::telemetry
