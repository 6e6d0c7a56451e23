#include "gateway/store/redis/link.hpp"
#include "gateway/telemetry/log.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <algorithm>
#include <utility>

namespace gateway::store::redis {

namespace asio = boost::asio;

namespace {

// A server may pause for a moment, to fork, say, without its connection being given up.
constexpr base::duration least_stuck = std::chrono::milliseconds{250};
constexpr base::duration most_stuck = std::chrono::milliseconds{500};

// Room beside the calls for commands of the link's own: a script, and probes that are overdue.
constexpr std::size_t own_commands = 8;

// Deadlines that close together are looked at together: far less than the 5 ms we may be late.
constexpr base::duration deadline_grain = std::chrono::milliseconds{1};

}  // namespace

std::shared_ptr<link> link::start(
    const net::executor& executor,
    std::string name,
    const redis_options& options,
    telemetry::store_metrics& metrics
)
{
    auto made = std::make_shared<link>(executor, std::move(name), options, metrics);
    made->self_ = made;
    asio::co_spawn(executor, made->run(made), asio::detached);
    return made;
}

link::link(
    const net::executor& executor,
    std::string name,
    const redis_options& options,
    telemetry::store_metrics& metrics
)
    : executor_(executor),
      name_(std::move(name)),
      options_(options),
      stuck_after_(std::clamp(options.timeout, least_stuck, most_stuck)),
      metrics_(metrics),
      breaker_(options.breaker),
      connector_(connector::make(executor, options)),
      socket_(executor),
      waiting_(options.max_pending),
      under_way_(max_under_way + own_commands),
      deadline_timer_(executor),
      probe_timer_(executor),
      rest_timer_(executor),
      random_(std::random_device{}())
{
    metrics_.up.set(0);
}

net::task<> link::run(std::shared_ptr<link> self)
{
    while (!self->state_.closed()) {
        state_.connecting();
        if (const auto why = co_await connector_->establish(state_)) {
            state_.lost(*why);
            note(*why, connector_->detail());
            report(why);
            fail_pending(*why);
        } else if (!state_.closed()) {
            begin();
        }
        while (state_.ready()) {
            rest_timer_.expires_at(base::instant::max());  // until lose() cancels it
            co_await rest_timer_.async_wait(net::use_task);
        }
        if (!state_.closed()) {
            rest_timer_.expires_after(state_.rest(random()));
            co_await rest_timer_.async_wait(net::use_task);
        }
    }
}

void link::begin()
{
    socket_ = connector_->take_socket();
    ++generation_;
    reader_.reset();
    state_.greeted();
    read_later();
    const std::uint64_t generation = generation_;
    send_waiting();
    if (generation_ != generation) {
        return;  // closed by somebody we called
    }
    if (breaker_.open()) {
        probe();
    } else {
        report(std::nullopt);
    }
}

void link::lose(failure why)
{
    if (!state_.ready()) {
        return;
    }
    ++generation_;
    boost::system::error_code ignored;
    socket_.close(ignored);
    state_.lost(why);
    outgoing_.clear();
    sent_ = 0;
    awaiting_writable_ = false;
    script_on_its_way_ = false;
    deadline_at_ = base::instant::max();
    deadline_timer_.cancel();
    rest_timer_.cancel();
    report(why);
    fail_pending(why);
}

void link::fail_pending(failure why)
{
    const base::instant now = base::now();
    while (!under_way_.empty() || !waiting_.empty()) {
        fail(take_pending(), why, now);
    }
}

// What stands there, of which its place knows nothing more; without an asker if it has been failed,
// or left.
pending_question link::claim(pending_question& place)
{
    pending_question claimed = place;
    claimed.asker = forget(place.asker);
    return claimed;
}

pending_question link::take_waiting()
{
    const pending_question oldest = claim(waiting_.front());
    waiting_.pop();
    return oldest;
}

// The oldest question there is.
pending_question link::take_pending()
{
    if (under_way_.empty()) {
        return take_waiting();
    }
    const pending_question oldest = claim(under_way_.front().question);
    under_way_.pop();
    return oldest;
}

void link::close(pending_ones what)
{
    if (state_.closed()) {
        return;
    }
    retire();  // that we go says nothing of the store
    state_.close();
    ++generation_;
    boost::system::error_code ignored;
    socket_.close(ignored);
    connector_->cancel();
    deadline_timer_.cancel();
    probe_timer_.cancel();
    rest_timer_.cancel();
    while (!under_way_.empty() || !waiting_.empty()) {
        question* const asker = take_pending().asker;
        if (asker != nullptr && what == pending_ones::fail) {
            asker->failed(failure::unreachable);
        }
    }
}

// One timer for all deadlines, moved only when an earlier one comes: as they usually come in
// order, it is touched once per timeout, not once per question.
void link::watch(base::instant at)
{
    if (at >= deadline_at_) {
        return;
    }
    deadline_at_ = at;
    deadline_timer_.expires_at(at);
    auto check = [self = self_.lock()](const boost::system::error_code& ec) {
        if (!ec) {
            self->check_deadlines();
        }
    };
    deadline_timer_.async_wait(std::move(check));
}

void link::check_deadlines()
{
    deadline_at_ = base::instant::max();
    const std::uint64_t generation = generation_;
    const base::instant now = base::now();
    base::instant next = base::instant::max();
    // An answer that is here is in time, if only this loop was too busy to read it.
    if (state_.ready() && !receive()) {
        return;
    }
    if (!under_way_.empty()) {
        next = under_way_.front().question.deadline + stuck_after_;
        if (next <= now) {
            lose(failure::timeout);
            return;
        }
    }
    const std::size_t count = under_way_.size();  // what is called may ask again
    for (std::size_t i = 0; i < count; ++i) {
        sent_command& command = under_way_[i];
        pending_question& asked = command.question;
        const bool probing = command.what == sent_command::kind::probe;
        if (asked.deadline > now) {
            next = asked.asker != nullptr || probing ? std::min(next, asked.deadline) : next;
            continue;
        }
        if (probing) {
            command.what = sent_command::kind::overdue_probe;
            probe_ended(failure::timeout);
        } else if (asked.asker != nullptr) {
            const pending_question overdue = claim(asked);
            metrics_.duration.observe(now - overdue.asked);
            fail(overdue, failure::timeout, now);
        }
        if (generation_ != generation) {
            return;  // closed by somebody we called
        }
    }
    if (!expire_waiting(now)) {
        return;
    }
    if (!waiting_.empty()) {
        next = std::min(next, waiting_.front().deadline);
    }
    if (next != base::instant::max()) {
        watch(std::max(next, now + deadline_grain));
    }
}

// Those that were never sent, oldest first. That is a failure of the server only if it has not been
// reached at all: else our queue to it was too long. False: closed by somebody we called.
bool link::expire_waiting(base::instant now)
{
    const std::uint64_t generation = generation_;
    while (!waiting_.empty() && waiting_.front().deadline <= now) {
        fail(take_waiting(), state_.ready() ? failure::overload : failure::timeout, now);
        if (generation_ != generation) {
            return false;
        }
    }
    return true;
}

void link::probe_later()
{
    if (state_.closed()) {
        return;
    }
    probe_timer_.expires_after(breaker_.pause(random()));
    auto probe_now = [self = self_.lock()](const boost::system::error_code& ec) {
        if (!ec) {
            self->probe();
        }
    };
    probe_timer_.async_wait(std::move(probe_now));
}

// Does nothing without a connection: the next one begins with a probe.
void link::probe()
{
    if (!state_.ready() || !breaker_.open()) {
        return;
    }
    if (under_way_.full()) {
        probe_later();
        return;
    }
    sent_command& command = enqueue(sent_command::kind::probe, base::now());
    const take_call call = next_call();
    encode_probe(command.bytes, call);
    command.number = call.number;
    metrics_.requests.add();
    send(command.bytes);
    watch(command.question.deadline);
}

void link::probe_ended(std::optional<failure> why)
{
    if (why) {
        probe_later();
        return;
    }
    breaker_.probe_succeeded();
    state_.proved();
    probe_timer_.cancel();
    report(std::nullopt);
}

void link::show_up(bool up)
{
    if (!retired_) {
        metrics_.up.set(up ? 1 : 0);
    }
}

void link::note(failure of, std::string said)
{
    said_of_ = of;
    said_ = std::move(said);
}

// The log hears of each change once: a store that stays away does not fill it.
void link::report(std::optional<failure> why)
{
    show_up(healthy());
    const std::string words = why == said_of_ ? said_ : std::string{};
    if ((reported_ == why && reported_words_ == words) || retired_) {
        return;
    }
    reported_ = why;
    reported_words_ = words;
    if (!why) {
        telemetry::log(
            telemetry::log_level::info, "store " + name_ + ": ready at " + connector_->address()
        );
        return;
    }
    const auto reason = std::string{failure_names[static_cast<std::size_t>(*why)]};
    const auto level = *why == failure::auth || *why == failure::config
                           ? telemetry::log_level::error
                           : telemetry::log_level::warning;
    const std::string quoted = words.empty() ? std::string{} : " (" + words + ")";
    const std::string_view breaker = breaker_.open() ? ", not asked until a probe succeeds" : "";
    telemetry::log(
        level,
        "store " + name_ + ": failing at " + connector_->address() + ": " + reason + quoted +
            std::string{breaker}
    );
}

double link::random()
{
    return std::uniform_real_distribution<double>{0, 1}(random_);
}

}  // namespace gateway::store::redis
