#include "gateway/app.hpp"

#include "config/address.hpp"
#include "config/load.hpp"
#include "config/problem.hpp"
#include "gateway/bucket_snapshots.hpp"
#include "gateway/certificate_expiry.hpp"
#include "gateway/http/via.hpp"
#include "gateway/plan_watch.hpp"
#include "gateway/proxy/failure.hpp"
#include "gateway/server/admin.hpp"
#include "gateway/server/echo.hpp"
#include "gateway/server/health_targets.hpp"
#include "gateway/server/worker.hpp"
#include "gateway/service_notices.hpp"
#include "gateway/startup.hpp"
#include "gateway/store_upkeep.hpp"
#include "gateway/telemetry/log.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>

#include <algorithm>
#include <csignal>
#include <deque>
#include <map>
#include <random>
#include <sstream>
#include <unistd.h>

namespace gateway {

namespace {

namespace asio = boost::asio;

static_assert(store::failure_names.size() <= telemetry::max_failure_reasons);
static_assert(proxy::failure_names.size() <= telemetry::max_failure_reasons);

using telemetry::log;
using telemetry::log_level;

class app {
public:
    app(const config::settings& settings, const std::string& config_path);

    int run();

private:
    const std::string config_path_;
    const std::string via_name_ = http::make_via_name(std::random_device{}());
    const net::ticket_secret tickets_ = net::ticket_secret::make(base::now());
    config::settings settings_;  // those in force
    asio::io_context control_{1};
    telemetry::registry metrics_;
    store::memory_store local_;
    bucket_snapshots snapshots_;
    telemetry::access_log_writer access_log_;
    std::unique_ptr<server::echo_server> echo_;
    server::health_checks health_;
    server::shared_state shared_;
    std::deque<server::worker> workers_;
    std::size_t workers_running_ = 0;
    std::unique_ptr<server::admin_server> admin_;
    store_upkeep store_upkeep_{local_, control_.get_executor(), settings_};
    plan_watch plan_watch_{
        control_.get_executor(), [this](const std::string& name, const config::plan_file& fresh) {
            adopt_plans(name, fresh);
        }};
    asio::signal_set signals_;
    net::timer drain_timer_;
    bool draining_ = false;

    std::map<std::string, std::shared_ptr<proxy::upstream_status>> upstreams_;

    server::snapshot snapshot_of(const config::settings& settings);
    std::shared_ptr<const server::snapshot> hand_over(const config::settings& settings);
    void adopt_plans(const std::string& name, const config::plan_file& fresh);
    void open_admin(net::socket listening);
    void wait_for_signal();
    void reload();
    void drain();
    void worker_finished();
    std::vector<telemetry::server_figures> server_figures();
    server::readiness readiness();
    server::admin_sources admin_sources();
    server::decision_counts decisions(std::string_view limit);
};

app::app(const config::settings& settings, const std::string& config_path)
    : config_path_(config_path),
      settings_(settings),
      metrics_(
          startup::worker_count(settings.server),
          {store::failure_names, proxy::failure_names},
          GATEWAY_VERSION
      ),
      local_(settings.local_store),
      snapshots_(control_.get_executor(), local_, settings.local_store.snapshot),
      access_log_(STDOUT_FILENO, settings.log),
      health_(control_, "gateway/" GATEWAY_VERSION),
      shared_{
          local_,
          metrics_,
          access_log_,
          startup::connections_with_descriptors(settings.server.max_connections),
      },
      signals_(control_, SIGTERM, SIGINT, SIGHUP),
      drain_timer_(control_.get_executor())
{
    local_.set_unix_time(base::unix_time() - base::now().time_since_epoch());
    metrics_.set_bucket_source(
        [this] { return local_.size(); }, [this] { return local_.turned_away(); }
    );
    metrics_.set_server_source([this] { return server_figures(); });
    metrics_.set_dropped_lines_source([this] { return access_log_.dropped_lines(); });
    metrics_.set_health_source([this] { return health_.results(); });
    metrics_.set_plan_source([this] { return plan_watch_.figures(); });
    metrics_.set_certificate_source([this] { return certificate_expiry(settings_.server); });
    plan_watch_.watch(settings_);
}

server::snapshot app::snapshot_of(const config::settings& settings)
{
    server::snapshot s;
    s.policy = settings.policy;
    s.http = settings.http;
    s.via_name = via_name_;
    s.max_connections_per_peer = settings.server.max_connections_per_peer;
    s.max_waiting = settings.server.max_waiting;
    s.upstreams = settings.upstreams;
    for (const server::listener_options& listener : settings.server.listeners) {
        s.listener_tls.push_back(listener.tls);
    }
    s.tickets = tickets_;
    for (const config::shared_store& store : settings.shared_stores) {
        s.shared_stores.push_back({store.name, store.options});
    }
    for (const proxy::upstream_options& upstream : s.upstreams) {
        auto& status = upstreams_[upstream.name];
        if (status == nullptr) {
            status = std::make_shared<proxy::upstream_status>();
        }
        s.upstream_statuses.push_back(status);
    }
    std::erase_if(upstreams_, [](const auto& entry) { return entry.second.use_count() == 1; });
    const bool echoes =
        std::any_of(s.upstreams.begin(), s.upstreams.end(), [](const auto& upstream) {
            return std::any_of(upstream.servers.begin(), upstream.servers.end(), [](const auto& a) {
                return a.address.echo;
            });
        });
    if (echoes && echo_ == nullptr) {
        echo_ = std::make_unique<server::echo_server>();
    }
    s.echo_port = echo_ != nullptr ? echo_->port() : 0;
    return s;
}

// To all workers.
std::shared_ptr<const server::snapshot> app::hand_over(const config::settings& settings)
{
    auto s = std::make_shared<const server::snapshot>(snapshot_of(settings));
    for (server::worker& w : workers_) {
        w.reload(s);
    }
    return s;
}

// A plan file has changed, and nothing else.
void app::adopt_plans(const std::string& name, const config::plan_file& fresh)
{
    if (draining_) {
        return;
    }
    auto changed = std::make_shared<policy::policy>(*settings_.policy);
    for (std::size_t i = 0; i < changed->plans.size(); ++i) {
        if (changed->plans[i].name == name) {
            changed->plans[i].members = fresh.members;
            settings_.written_plans[i].stamp = fresh.stamp;
        }
    }
    changed->finish();
    settings_.policy = std::move(changed);
    hand_over(settings_);
    plan_watch_.watch(settings_);
}

int app::run()
{
    const std::size_t count = startup::worker_count(settings_.server);
    auto listening = startup::open_listeners(settings_.server, count);
    open_admin(std::move(listening.of_admin));
    const server::snapshot first = snapshot_of(settings_);
    for (std::size_t i = 0; i < count; ++i) {
        workers_.emplace_back(
            shared_, i, first, settings_.server.listeners, std::move(listening.of_workers[i])
        );
    }
    health_.watch(server::health_targets(first));
    for (server::worker& w : workers_) {
        ++workers_running_;
        w.start([this] { asio::post(control_, [this] { worker_finished(); }); });
    }
    wait_for_signal();
    service_notices::ready();
    control_.run();
    startup::end_at_next_signal();
    snapshots_.end();
    startup::remove_files(listening.files);
    return 0;
}

void app::open_admin(net::socket listening)
{
    admin_ = std::make_unique<server::admin_server>(
        control_, std::move(listening), settings_.server.admin, admin_sources()
    );
}

server::admin_sources app::admin_sources()
{
    return {
        .metrics = [this] { return metrics_.scrape(); },
        .ready = [this] { return readiness(); },
        .token = [this] { return settings_.server.admin_token.text; },
        .policy = [this] { return settings_.policy; },
        .http = [this] { return settings_.http; },
        .decisions = [this](std::string_view limit) { return decisions(limit); },
        .workers =
            [this] {
                std::vector<server::worker*> all;
                for (server::worker& w : workers_) {
                    all.push_back(&w);
                }
                return all;
            },
    };
}

server::decision_counts app::decisions(std::string_view limit)
{
    server::decision_counts sum{};
    for (std::size_t w = 0; w < workers_.size(); ++w) {
        const telemetry::limit_metrics& counted = metrics_.limit(w, limit);
        for (std::size_t i = 0; i < sum.size(); ++i) {
            sum[i] += counted.decisions[i].value();
        }
    }
    return sum;
}

void app::wait_for_signal()
{
    signals_.async_wait([this](const boost::system::error_code& ec, int signal) {
        if (ec) {
            return;
        }
        if (signal == SIGHUP) {
            reload();
        } else if (draining_) {
            log(log_level::warning, "second signal: ending at once");
            std::_Exit(1);
        } else {
            drain();
        }
        wait_for_signal();
    });
}

// A bad file changes nothing.
void app::reload()
{
    if (draining_) {
        return;
    }
    service_notices::reloading();
    try {
        config::settings fresh = config::load_file(config_path_, &settings_);
        for (const std::string& difference : startup::needs_restart(settings_, fresh)) {
            log(log_level::warning,
                difference + ": a changed value takes effect at the next start only");
        }
        for (const std::string& warning : fresh.warnings) {
            log(log_level::warning, warning);
        }
        startup::keep_fixed(settings_, fresh);
        const auto s = hand_over(fresh);
        telemetry::configure_log(fresh.log);
        access_log_.configure(fresh.log);
        health_.watch(server::health_targets(*s));
        store_upkeep_.apply(settings_, fresh);
        settings_ = std::move(fresh);
        plan_watch_.watch(settings_);
        metrics_.count_reload(true);
        log(log_level::info, "reloaded " + config_path_);
    } catch (const std::exception& e) {  // config_error, or no means for what it asks
        metrics_.count_reload(false);
        log(log_level::error, "reload refused, the old configuration stays in force");
        std::istringstream problems(e.what());
        for (std::string problem; std::getline(problems, problem);) {
            log(log_level::error, problem);
        }
    }
    service_notices::ready();
}

void app::drain()
{
    draining_ = true;
    service_notices::stopping();
    for (server::worker& w : workers_) {
        w.drain();
    }
    log(log_level::info, "draining");  // no sooner: who reads it may count on it
    drain_timer_.expires_after(settings_.server.drain_timeout);
    drain_timer_.async_wait([this](const boost::system::error_code& ec) {
        if (!ec) {
            log(log_level::warning, "drain_timeout has passed: closing what is left");
            for (server::worker& w : workers_) {
                w.abort();
            }
        }
    });
}

void app::worker_finished()
{
    if (--workers_running_ == 0) {
        drain_timer_.cancel();
        signals_.cancel();
        control_.stop();  // nothing of a client is left; admin connections may go
        log(log_level::info, "drained, ending");
    }
}

std::vector<telemetry::server_figures> app::server_figures()
{
    std::vector<telemetry::server_figures> figures;
    const base::instant now = base::now();
    for (const proxy::upstream_options& upstream : settings_.upstreams) {
        for (const proxy::server_options& s : upstream.servers) {
            const std::string address = to_text(s.address);
            const auto status = upstreams_.at(upstream.name)->server(address);
            figures.push_back(
                {{upstream.name, address}, status->is_usable(now), status->ejections()}
            );
        }
    }
    return figures;
}

server::readiness app::readiness()
{
    server::readiness r;
    if (draining_) {
        r.reasons.emplace_back("draining");
    }
    for (const config::shared_store& store : settings_.shared_stores) {
        bool up = true;
        for (std::size_t i = 0; i < workers_.size(); ++i) {
            up = up && metrics_.store(i, store.name).up.value() != 0;
        }
        if (!up) {
            r.stores_down.push_back(store.name);
        }
    }
    for (const telemetry::server_figures& s : server_figures()) {
        if (!s.up) {
            r.servers_down.push_back(s.name);
        }
    }
    return r;
}

}  // namespace

int run(const config::settings& settings, const std::string& config_path)
{
    telemetry::configure_log(settings.log);
    std::signal(SIGPIPE, SIG_IGN);
    return app(settings, config_path).run();
}

}  // namespace gateway
