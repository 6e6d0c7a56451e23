#include "config/urls/address.hpp"
#include "gateway/commands/admin_client.hpp"
#include "gateway/commands/commands.hpp"
#include "gateway/commands/top/event_reader.hpp"
#include "gateway/commands/top/terminal.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/signal_set.hpp>

#include <array>
#include <csignal>
#include <unistd.h>

namespace gateway {

namespace {

namespace asio = boost::asio;

// Longest silence of the stream, which has an event each second.
constexpr base::duration longest_silence = std::chrono::seconds{5};
constexpr base::duration between_attempts = std::chrono::seconds{1};

class top_view {
public:
    explicit top_view(const top_request& request)
        : request_(request),
          address_(config::to_text(request.admin)),
          terminal_(request.once),
          signals_(context_)
    {}

    int run(std::ostream& err);

private:
    const top_request& request_;
    const std::string address_;
    asio::io_context context_{1};
    terminal terminal_;
    asio::signal_set signals_;
    top_figures figures_{};
    // Id of the last event.
    std::string seen_{};
    // State of the connection, "live" if it is well.
    std::string link_ = "connecting";
    bool shown_ = false;

    net::task<> follow();
    net::task<> read_stream();
    net::task<> await_quit();
    bool take(std::string_view bytes, std::string& head, event_reader& events);
    void draw();
    void on_signal();
    void stop_process();
    std::string head() const;
};

std::string top_view::head() const
{
    std::string text = "GET /v1/stream HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n";
    if (!request_.token.empty()) {
        text += "Authorization: Bearer " + request_.token + "\r\n";
    }
    if (!seen_.empty()) {
        text += "Last-Event-ID: " + seen_ + "\r\n";
    }
    return text + "\r\n";
}

void top_view::draw()
{
    if (!terminal_.show(draw_screen(figures_, address_, link_, terminal_.options()))) {
        context_.stop();  // nobody reads the output
    }
}

// Returns the reason in an answer that is no stream.
std::string refusal_of(std::string_view answer)
{
    const std::size_t body = answer.find("\r\n\r\n");
    const std::string detail =
        body == std::string_view::npos ? "" : problem_detail(answer.substr(body + 4));
    return detail.empty() ? std::string{answer.substr(0, answer.find('\r'))} : detail;
}

// True if the answer that begins so is the stream, and not a refusal.
bool is_stream(std::string_view answer_head)
{
    return answer_head.starts_with("HTTP/1.1 200 ");
}

// Takes bytes of the answer. `answer_head` gathers them until the head is complete, and all bytes
// of an answer that is no stream. Returns false when nothing more is wanted.
bool top_view::take(std::string_view bytes, std::string& answer_head, event_reader& events)
{
    constexpr std::string_view end = "\r\n\r\n";
    if (!is_stream(answer_head) || !answer_head.ends_with(end)) {
        answer_head += bytes;
        const std::size_t at = answer_head.find(end);
        if (at == std::string::npos || !is_stream(answer_head)) {
            return answer_head.size() < std::size_t{64} * 1024;
        }
        bytes = bytes.substr(bytes.size() - (answer_head.size() - at - end.size()));
        answer_head.resize(at + end.size());
    }
    bool any = false;
    for (const stream_event& e : events.read(bytes)) {
        seen_ = e.id.empty() ? seen_ : e.id;
        any = figures_.add(e.data) || any;
    }
    if (any && figures_.any()) {
        link_ = "live";
        if (!request_.once || !shown_) {
            shown_ = true;
            draw();
        }
    }
    return !request_.once || !shown_;
}

// Reads one stream to its end.
net::task<> top_view::read_stream()
{
    probes::control_stream s(co_await asio::this_coro::executor);
    s.expires_after(longest_silence);
    auto [ec] = co_await s.async_connect(endpoint_of(request_.admin), net::use_task);
    const std::string asked = head();
    if (!ec) {
        ec = co_await probes::write(s, std::string_view{asked});
    }
    std::string answer_head;
    event_reader events;
    std::array<char, std::size_t{64} * 1024> room{};
    while (!ec) {
        s.expires_after(longest_silence);
        const auto [failed, count] = co_await s.async_read_some(asio::buffer(room), net::use_task);
        ec = failed;
        if (!take({room.data(), count}, answer_head, events)) {
            co_return;
        }
    }
    link_ = answer_head.empty() || is_stream(answer_head) ? "no answer: " + ec.message()
                                                          : refusal_of(answer_head);
}

net::task<> top_view::follow()
{
    net::timer rest(co_await asio::this_coro::executor);
    do {
        co_await read_stream();
        if (!request_.once) {
            draw();
            co_await net::pause(rest, between_attempts);
        }
    } while (!request_.once);
    context_.stop();
}

// Waits for the key q.
net::task<> top_view::await_quit()
{
    asio::posix::basic_stream_descriptor<net::executor> keys(
        co_await asio::this_coro::executor, ::dup(terminal_.keys())
    );
    std::array<char, 1> key{};
    while (key[0] != 'q' && key[0] != 'Q') {
        const auto [ec, count] = co_await keys.async_read_some(asio::buffer(key), net::use_task);
        if (ec) {
            co_return;
        }
    }
    context_.stop();
}

void top_view::on_signal()
{
    signals_.async_wait([this](const boost::system::error_code& ec, int signal) {
        if (ec) {
            return;
        }
        if (signal != SIGWINCH && signal != SIGTSTP) {
            context_.stop();
            return;
        }
        if (signal == SIGTSTP) {
            stop_process();
        }
        draw();
        on_signal();
    });
}

// Stops the process, as the signal would have without this, with the terminal as it was before.
// Returns when it is continued.
void top_view::stop_process()
{
    terminal_.give_back();
    signals_.remove(SIGTSTP);
    std::raise(SIGTSTP);
    signals_.add(SIGTSTP);
    terminal_.take_over();
}

int top_view::run(std::ostream& err)
{
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGTSTP, SIGWINCH}) {
        signals_.add(signal);
    }
    std::signal(SIGPIPE, SIG_IGN);
    on_signal();
    asio::co_spawn(context_.get_executor(), follow(), asio::detached);
    if (terminal_.has_keys()) {
        asio::co_spawn(context_.get_executor(), await_quit(), asio::detached);
    }
    context_.run();
    if (request_.once && !shown_) {
        err << "the admin API on " << address_ << ": " << link_ << '\n';
        return cli::failed_while_running;
    }
    return cli::done;
}

}  // namespace

int show_top(const top_request& request, std::ostream& err)
{
    return top_view(request).run(err);
}

}  // namespace gateway
