#include "gateway/store/redis/complaint.hpp"
#include "gateway/store/redis/link.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <utility>

namespace gateway::store::redis {

namespace asio = boost::asio;

std::shared_ptr<link> link::start(
    net::loop& l,
    std::string name,
    const redis_options& options,
    telemetry::store_metrics& metrics,
    cluster_port* cluster
)
{
    auto made = std::make_shared<link>(l, std::move(name), options, metrics, cluster);
    made->self_ = made;
    asio::co_spawn(l.get_executor(), made->run(made), asio::detached);
    if (options.sentinel) {
        made->watch_ = sentinel_watch::start(
            l.get_executor(),
            *options.sentinel,
            stage_limit(options.timeout),
            [of = made.get()](const net::server_address& master) { of->master_is(master); }
        );
    }
    return made;
}

link::link(
    net::loop& l,
    std::string name,
    const redis_options& options,
    telemetry::store_metrics& metrics,
    cluster_port* cluster
)
    : loop_(l),
      options_(options),
      cluster_(cluster),
      corrupt_keys_(name),
      health_(std::move(name), metrics),
      connector_(l.get_executor(), options, stage_limit(options.timeout)),
      tls_(options.tls ? net::tls_client::make(*options.tls, options.host) : nullptr),
      commands_(cluster == nullptr ? max_commands : max_commands_in_cluster),
      parts_(cluster == nullptr ? 0 : conversation_state::max_calls),
      wakes_(l.get_executor(), conversation_, [this] { receive(); }),
      run_timer_(l.get_executor()),
      random_(std::random_device{}()),
      conversation_(*this, options, metrics, std::random_device{}())
{}

net::task<> link::run(std::shared_ptr<link> self)
{
    link_state& state = self->conversation_.link();
    while (!state.closed()) {
        state.connecting();
        const base::instant began = base::now();
        net::stream_socket socket = co_await connector_.connect();
        if (state.closed()) {
            break;
        }
        if (socket.is_open()) {
            begin(net::socket(socket.release()));
            co_await net::pause(run_timer_, stage_limit(options_.timeout));
            if (greeting_) {
                lose(failure::timeout, {});
            }
        } else {
            lose(connector_.why(), connector_.detail());
        }
        const base::duration spent = state.ready() ? base::duration{0} : base::now() - began;
        while (state.ready()) {
            co_await net::pause(run_timer_, net::for_ever);
        }
        co_await rest(spent);
    }
}

// A hint cuts it short, but not to nothing: all workers get it at the same time.
net::task<> link::rest(base::duration spent)
{
    const link_state& state = conversation_.link();
    for (hinted_ = true; hinted_ && !state.closed();) {
        hinted_ = false;
        const double chance = std::uniform_real_distribution<double>{0, 1}(random_);
        co_await net::pause(run_timer_, state.rest(chance, spent));
    }
}

// Sentinels say so. One that is not what they say will be lost to the greeting.
void link::master_is(const net::server_address& master)
{
    link_state& state = conversation_.link();
    const bool is_there = channel_ != nullptr && connector_.address() == master;
    if (is_there || state.closed()) {
        return;
    }
    hinted_ = true;
    state.hinted();
    if (channel_ != nullptr) {
        lose(failure::unreachable, "sentinels name another master: " + master.text());
    } else if (state.now_in() == link_state::phase::resting) {
        run_timer_.cancel();
    }
}

void link::begin(net::socket connected)
{
    conversation_.link().connected();
    channel_ = new channel(loop_, std::move(connected), *this);
    if (channel_->closed()) {  // for want of something of our own
        lose(failure::unreachable, "the connection cannot be watched");
        return;
    }
    reader_.reset();
    greeting_.emplace(options_);
    channel_->send(greeting_->bytes());
    channel_->want_read();
}

// A reply to a part of the greeting. False: the connection is lost.
bool link::greet(const reply& r)
{
    if (const auto refused = greeting_->accept(r)) {
        const std::string role{r.word(0)};
        const bool has_words = r.what == reply::kind::error;
        const std::string said = has_words ? quotable(r.text(), options_.password) : std::string{};
        lose(*refused, role.empty() ? said : "the sentinels' master has the role " + role);
        return false;
    }
    if (!greeting_->done()) {
        return true;
    }
    if (!reader_.drained()) {
        lose(failure::protocol, {});
        return false;
    }
    script_sha_ = greeting_->script_sha();
    greeting_.reset();
    connector_.accepted();
    run_timer_.cancel();
    conversation_.ready(base::now());
    return true;
}

void link::hang_up()
{
    if (channel_ != nullptr) {
        if (channel_->shaking_hands()) {
            tls_->forget_session();
        }
        std::exchange(channel_, nullptr)->let_go();
    }
    greeting_.reset();
    fail_carried();
    while (!commands_.empty()) {
        commands_.pop();
    }
    script_on_its_way_ = false;
    run_timer_.cancel();
}

void link::lose(failure why, std::string words)
{
    health_.note(why, std::move(words));
    hang_up();
    conversation_.lost(why, base::now());
}

void link::close(conversation_state::pending_ones what)
{
    if (!conversation_.link().closed()) {
        retire();  // that we go says nothing of the store
        hang_up();
        connector_.cancel();
        if (watch_ != nullptr) {
            watch_->cancel();
        }
        wakes_.cancel();
    }
    conversation_.close(what);
}

void link::wake_at(base::instant at)
{
    wakes_.at(at, self_.lock());
}

void link::wake_after_turn()
{
    wakes_.after_turn(self_.lock());
}

void link::report(std::optional<failure> why)
{
    if (cluster_ != nullptr) {
        cluster_->doubt();
    }
    const bool up = cluster_ == nullptr ? conversation_.healthy() : cluster_->all_healthy();
    health_.tell(why, connector_.address().text(), up, conversation_.breaker_open());
}

}  // namespace gateway::store::redis
