#include "gateway/app.hpp"

#include "config/load.hpp"
#include "config/text/problem.hpp"
#include "config/urls/address.hpp"
#include "gateway/admin/admin.hpp"
#include "gateway/bucket_snapshots.hpp"
#include "gateway/certificate_expiry.hpp"
#include "gateway/changed_policy.hpp"
#include "gateway/fixed_keys.hpp"
#include "gateway/key_watch.hpp"
#include "gateway/plan_watch.hpp"
#include "gateway/probes/health_targets.hpp"
#include "gateway/process/predecessor.hpp"
#include "gateway/process/service_notices.hpp"
#include "gateway/process/signals.hpp"
#include "gateway/process/startup.hpp"
#include "gateway/process/successor.hpp"
#include "gateway/process_reports.hpp"
#include "gateway/proxy/failure.hpp"
#include "gateway/readiness.hpp"
#include "gateway/snapshot_maker.hpp"
#include "gateway/store_upkeep.hpp"
#include "gateway/telemetry/log.hpp"
#include "gateway/trace_export.hpp"
#include "gateway/worker_group.hpp"

#include <boost/asio/signal_set.hpp>

#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <utility>

namespace gateway {

namespace {

namespace asio = boost::asio;

static_assert(store::failure_names.size() <= telemetry::max_failure_reasons);
static_assert(proxy::failure_names.size() <= telemetry::max_failure_reasons);

using telemetry::log;
using telemetry::log_level;
using telemetry::log_outcome;

class app {
public:
    app(const config::settings& settings, const std::string& config_path, own_start start);

    int run(startup::inheritance from_before);

private:
    const std::string config_path_;
    const own_start start_;
    config::settings settings_;  // The settings in force.
    asio::io_context control_{1};
    asio::signal_set signals_{control_};
    telemetry::registry metrics_;
    store::memory_store local_;
    predecessor before_{local_};
    bucket_snapshots snapshots_;
    telemetry::access_log_writer access_log_;
    process_reports reports_{control_.get_executor(), metrics_, local_, access_log_};
    trace_export traces_;
    snapshot_maker snapshot_maker_;
    probes::health_checks health_;
    const startup::connection_bounds bounds_;
    worker::shared_state shared_;
    worker_group workers_{control_, shared_};
    std::unique_ptr<admin::admin_server> admin_;
    store_upkeep store_upkeep_{local_, control_.get_executor(), settings_};
    plan_watch plan_watch_{
        control_.get_executor(), [this](const std::string& name, const config::plan_file& fresh) {
            adopt_plans(name, fresh);
        }};
    key_watch key_watch_{
        control_.get_executor(),
        shared_.key_fetches,
        {.fetched = [this](auto keys) { adopt_keys(std::move(keys)); },
         .ended = [this] { workers_.stop_waiting_for_keys(); }}};
    startup::listening_sockets listening_;
    // The next process, while it is being started, and then as long as it has the buckets.
    std::optional<successor> next_;
    // True if the next process is started for a reload.
    bool reloads_by_next_ = false;
    bool draining_ = false;

    std::shared_ptr<const worker::snapshot> hand_over(const config::settings& settings);
    void adopt_plans(const std::string& name, const config::plan_file& fresh);
    void adopt_keys(std::vector<identity::token_key> keys);
    void open_admin(net::socket listening);
    void wait_for_signal();
    void reload();
    void change_over(const std::vector<std::string>& changed);
    void upgrade();
    void start_next();
    void upgraded(const std::optional<std::string>& why_not);
    void drain(net::queued rest);
    void workers_ended();
    admin::admin_sources admin_sources();
};

app::app(const config::settings& settings, const std::string& config_path, own_start start)
    : config_path_(config_path),
      start_(std::move(start)),
      settings_(settings),
      metrics_(
          startup::worker_count(settings.server),
          {store::failure_names, proxy::failure_names},
          GATEWAY_VERSION
      ),
      local_(settings.local_store),
      snapshots_(control_.get_executor(), local_, settings.local_store.snapshot),
      access_log_(telemetry::required_output(settings.log.output), settings.log),
      health_(control_, "gateway/" GATEWAY_VERSION),
      bounds_(startup::bounds_with_descriptors(settings.server)),
      shared_{local_, metrics_, access_log_, traces_.queue(), bounds_.clients}
{
    for (const int signal : signals::handled_signals) {
        signals_.add(signal);
    }
    local_.set_unix_time(base::unix_time() - base::now().time_since_epoch());
    // The log tells the moments of decisions in the same way, so that a replay sees the same parts.
    local_.begin_windows(access_log_.to_unix());
    metrics_.set_sources({
        .buckets = [this] { return local_.size(); },
        .turned_away = [this] { return local_.turned_away(); },
        .dropped_lines = [this] { return access_log_.dropped_lines(); },
        .dropped_spans = [this] { return traces_.queue().dropped(); },
        .servers = [this] { return snapshot_maker_.figures(settings_); },
        .health = [this] { return health_.results(); },
        .plans = [this] { return plan_watch_.figures(); },
        .certificates = [this] { return certificate_expiry(settings_); },
        .key_fetches = [this] { return key_watch_.figures(); },
    });
    plan_watch_.watch(settings_);
    key_watch_.watch(settings_);
    traces_.apply(settings_.exporting);
    reports_.note_start(settings_.warnings);
}

// Makes a snapshot of the settings and hands it to all workers.
std::shared_ptr<const worker::snapshot> app::hand_over(const config::settings& settings)
{
    auto s = std::make_shared<const worker::snapshot>(snapshot_maker_.make(settings));
    workers_.reload(s);
    return s;
}

// Puts the new members of a changed plan file into force. Nothing else has changed.
void app::adopt_plans(const std::string& name, const config::plan_file& fresh)
{
    if (!draining_) {
        adopt_plan_file(settings_, name, fresh);
        hand_over(settings_);
        plan_watch_.watch(settings_);
    }
}

// Puts other keys that verify tokens into force, also for requests that wait for them while the
// process drains. Nothing else has changed.
void app::adopt_keys(std::vector<identity::token_key> keys)
{
    adopt_token_keys(settings_, std::move(keys));
    hand_over(settings_);
}

int app::run(startup::inheritance from_before)
{
    if (!before_.was_there()) {
        snapshots_.restore();
    }
    listening_ = startup::open_listeners(settings_.server, std::move(from_before));
    open_admin(std::move(listening_.of_admin));
    const worker::snapshot first = snapshot_maker_.make(settings_);
    workers_.make(first, settings_.server.listeners, std::move(listening_.of_workers));
    health_.watch(probes::health_targets(first));
    // The older process has keys, which its clients would miss.
    key_watch_.await_first(control_, [this] { return before_.serves(); });
    const bool older_serves = before_.was_there() && before_.take_buckets();
    if (before_.was_there() && !older_serves) {
        snapshots_.restore();
    }
    // Clients wait for this process from the moment it listens, unless an older one serves them. A
    // process for which clients wait serves them, even if a signal is pending, and then drains.
    if (older_serves && signals::is_termination_pending()) {
        log(log_level::info, "ended by a signal before it served");
        return 0;
    }
    workers_.start([this] { workers_ended(); });
    wait_for_signal();
    before_.follow();
    startup::adopt_files(listening_);
    snapshots_.begin();
    service_notices::ready();
    signals::unblock_all();
    control_.run();
    listening_.files.remove();
    signals::end_at_next();
    before_.await_end();
    snapshots_.end();
    return 0;
}

void app::open_admin(net::socket listening)
{
    client::admin_options options = settings_.server.admin;
    options.max_connections = bounds_.admin;
    admin_ = std::make_unique<admin::admin_server>(
        control_, std::move(listening), options, admin_sources()
    );
}

admin::admin_sources app::admin_sources()
{
    return {
        .metrics = [this](auto format) { return metrics_.scrape(format); },
        .totals = [this] { return metrics_.totals(); },
        .servers = [this] { return snapshot_maker_.figures(settings_); },
        .certificates = [this] { return certificate_expiry(settings_); },
        .process =
            [this] {
                return reports_.report(
                    settings_, plan_watch_, {draining_, workers_.size(), bounds_.clients}
                );
            },
        .ready =
            [this] {
                const auto servers = snapshot_maker_.figures(settings_);
                auto r = readiness_of(settings_, metrics_, workers_.size(), servers, draining_);
                add_keys(r, settings_.issuer, key_watch_.figures());
                return r;
            },
        .token = [this] { return settings_.server.admin_token.text; },
        .hosts = [this]() -> const std::vector<std::string>& {
            return settings_.server.admin.hosts;
        },
        .policy = [this] { return settings_.policy; },
        .http = [this] { return settings_.http; },
        .workers = [this] { return workers_.all(); },
    };
}

void app::wait_for_signal()
{
    signals_.async_wait([this](const boost::system::error_code& ec, int signal) {
        if (ec) {
            return;
        }
        if (signal == SIGHUP) {
            reload();
        } else if (signal == SIGUSR2) {
            upgrade();
        } else if (draining_) {
            log(log_level::warning, "second signal: ending at once");
            listening_.files.remove();
            std::_Exit(1);
        } else {
            next_.reset();
            service_notices::stopping();
            drain(net::queued::accepted);
        }
        wait_for_signal();
    });
}

// Loads the configuration again. A bad file changes nothing.
void app::reload()
{
    if (draining_ || next_) {
        log_outcome(log_level::warning, "SIGHUP while draining or during an upgrade: not reloaded");
        return;
    }
    service_notices::reloading();
    try {
        config::settings fresh = config::load_file(config_path_, &settings_);
        std::vector<std::string> warnings = needs_restart(settings_, fresh);
        if (!warnings.empty() && service_notices::can_be_followed()) {
            change_over(warnings);
            return;
        }
        warnings = reload_warnings(std::move(warnings), fresh);
        keep_fixed(settings_, fresh);
        health_.watch(probes::health_targets(*hand_over(fresh)));
        telemetry::configure_log(fresh.log);
        access_log_.configure(fresh.log);
        access_log_.write_to(fresh.log.output);
        traces_.apply(fresh.exporting);
        store_upkeep_.apply(settings_, fresh);
        settings_ = std::move(fresh);
        plan_watch_.watch(settings_);
        key_watch_.watch(settings_);
        reports_.note_success(config_path_, std::move(warnings));
    } catch (const std::exception& e) {  // A bad file, a change impossible now, or no resources.
        access_log_.write_to(settings_.log.output);
        reports_.note_refusal(e.what());
    }
    service_notices::ready();
}

// Starts a process to replace this one, for keys that a running process cannot change.
void app::change_over(const std::vector<std::string>& changed)
{
    if (before_.drains()) {
        throw std::runtime_error{
            changed.front() +
            ": changes by another process, and the one before this one has not "
            "ended yet: reload again when it has"};
    }
    for (const std::string& key : changed) {
        log(log_level::info, key + ": changes by another process of this binary");
    }
    reloads_by_next_ = true;
    start_next();
}

// Starts the next process as this one was started. It gets all sockets, then all buckets.
void app::upgrade()
{
    if (draining_ || next_ || before_.drains()) {
        log_outcome(
            log_level::warning,
            "SIGUSR2 while draining, or before the last upgrade has ended: no other one is begun"
        );
        return;
    }
    if (config::is_standard_input(config_path_)) {
        log_outcome(
            log_level::error,
            "upgrade: " + std::string{config::not_read_again} + "; this one goes on"
        );
        return;
    }
    service_notices::reloading();
    start_next();
}

void app::start_next()
{
    log(log_level::info, "upgrade: starting " + start_.path);
    next_.emplace(control_.get_executor(), local_, [this](const auto& why_not) {
        upgraded(why_not);
    });
    next_->start(start_, startup::to_pass_on(listening_), settings_.server.upgrade_timeout);
}

void app::upgraded(const std::optional<std::string>& why_not)
{
    const bool reloads = std::exchange(reloads_by_next_, false);
    if (why_not) {
        next_.reset();
        log_outcome(
            log_level::error, "upgrade: the new process " + *why_not + "; this one goes on"
        );
        if (reloads) {
            reports_.note_refusal({});
        }
        service_notices::ready();
        return;
    }
    log_outcome(log_level::info, "upgrade: process " + std::to_string(next_->pid()) + " serves");
    service_notices::follow(next_->pid());
    snapshots_.leave();
    admin_->stop_accepting();
    listening_.files.leave();
    drain(net::queued::left);
}

void app::drain(net::queued rest)
{
    draining_ = true;
    workers_.drain(rest, settings_.server.drain_timeout);
    // Logged last, as readers of the line may rely on the drain.
    log_outcome(log_level::info, "draining");
}

// Ends the process. No client is left, and admin connections may be closed.
void app::workers_ended()
{
    signals::block_all();
    signals_.clear();  // It restores the default actions, which end_at_next() replaces.
    control_.stop();
    log_outcome(log_level::info, "drained, ending");
}

}  // namespace

int run(const config::settings& settings, const std::string& config_path, own_start start)
{
    telemetry::configure_log(settings.log);
    signals::block_termination();
    auto from_before = startup::inherited_sockets();
    return app(settings, config_path, std::move(start)).run(std::move(from_before));
}

}  // namespace gateway
