#include "gateway/store/redis/link.hpp"
#include "gateway/store/redis/protocol/complaint.hpp"

#include <utility>

namespace gateway::store::redis {

std::shared_ptr<link> link::start(
    net::loop& l,
    std::string name,
    const redis_options& options,
    telemetry::store_metrics& metrics,
    cluster_port* cluster
)
{
    auto made = std::make_shared<link>(l, std::move(name), options, metrics, cluster);
    made->run(made, made->connector_.address().text());
    if (options.sentinel) {
        made->watch_ = sentinel_watch::start(
            l.get_executor(),
            options,
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
    : store::link(l.get_executor(), options, metrics),
      loop_(l),
      options_(options),
      cluster_(cluster),
      corrupt_keys_(name),
      health_(std::move(name), metrics),
      connector_(l.get_executor(), options, stage_limit(options.timeout)),
      tls_(options.tls),
      commands_(cluster == nullptr ? max_commands : max_commands_in_cluster),
      parts_(cluster == nullptr ? 0 : conversation_state::max_calls)
{}

net::task<> link::connect()
{
    net::stream_socket socket = co_await connector_.connect();
    if (conversation().link().closed()) {
        co_return;
    }
    if (!socket.is_open()) {
        lose(connector_.why(), connector_.detail());
        co_return;
    }
    begin(net::socket(socket.release()));
    if (greeting_) {
        co_await net::pause(run_timer_, stage_limit(options_.timeout));
    }
    if (greeting_) {
        lose(failure::timeout, {});
    }
}

// Hears from sentinels which server is the master. A server that is not will be rejected by the
// greeting. One that has denied it already does not end the connection to the server that was found
// instead.
void link::master_is(const net::server_address& master)
{
    const bool is_well = connector_.address() == master || connector_.has_denied(master);
    if ((channel_ != nullptr && is_well) || conversation().link().closed()) {
        return;
    }
    hint();
    if (channel_ != nullptr) {
        lose(failure::unreachable, "sentinels name another master: " + master.text());
    }
}

void link::begin(net::socket connected)
{
    conversation().link().connected();
    channel_ = new channel(loop_, std::move(connected), *this);
    if (channel_->closed()) {  // for want of a resource of this process
        lose(failure::unreachable, "the connection cannot be watched");
        return;
    }
    reader_.reset();
    greeting_.emplace(options_);
    channel_->send(greeting_->bytes());
    channel_->want_read();
}

// Takes a reply to a part of the greeting. Returns false if the connection is lost.
bool link::greet(const reply& r)
{
    if (const auto refused = greeting_->accept(r)) {
        const std::string role{r.word(0)};
        if (!role.empty()) {
            connector_.denied();
        }
        const bool has_words = r.what == reply::kind::error;
        const std::string error = has_words ? quotable(r.text(), options_.password) : std::string{};
        lose(*refused, role.empty() ? error : "the sentinels' master has the role " + role);
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
    conversation().ready(base::now());
    return true;
}

void link::disconnect()
{
    if (channel_ != nullptr) {
        if (channel_->shaking_hands()) {
            tls_.forget_session();
        }
        std::exchange(channel_, nullptr)->let_go();
    }
    greeting_.reset();
    fail_carried();
    while (!commands_.empty()) {
        commands_.pop();
    }
    script_on_its_way_ = false;
}

void link::lose(failure why, std::string words)
{
    health_.note(why, std::move(words));
    lost(why);
}

void link::cancel()
{
    connector_.cancel();
    if (watch_ != nullptr) {
        watch_->cancel();
    }
}

void link::report(std::optional<failure> why)
{
    if (cluster_ != nullptr) {
        cluster_->doubt();
    }
    const bool up = cluster_ == nullptr ? conversation().healthy() : cluster_->all_healthy();
    health_.report(why, connector_.address().text(), up, conversation().breaker_open());
}

}  // namespace gateway::store::redis
