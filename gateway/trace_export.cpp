#include "gateway/trace_export.hpp"

#include "gateway/base/clock.hpp"
#include "gateway/net/reported.hpp"
#include "gateway/probes/collector.hpp"
#include "gateway/telemetry/log.hpp"
#include "gateway/tracing/export_pace.hpp"
#include "gateway/tracing/otlp.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>

#include <optional>
#include <random>
#include <thread>
#include <utility>

namespace gateway {

namespace {

using telemetry::log_level;

std::string instance_name()
{
    std::random_device random;
    return std::to_string(random()) + '-' + std::to_string(random());
}

}  // namespace

// The thread, and what runs on it.
class trace_export::exporter {
public:
    exporter(tracing::span_queue& queue, const probes::collector_options& options)
        : queue_(queue), by_{options.service_name, GATEWAY_VERSION, instance_name()}
    {
        adopt(options);
        boost::asio::co_spawn(
            context_.get_executor(), keep_exporting(), net::reported("the export of traces")
        );
        thread_ = std::thread([this] { context_.run(); });
    }

    ~exporter()
    {
        boost::asio::post(context_, [this] { stop(); });
        thread_.join();
    }

    exporter(const exporter&) = delete;
    exporter& operator=(const exporter&) = delete;

    void configure(const probes::collector_options& options)
    {
        boost::asio::post(context_, [this, options] { adopt(options); });
    }

private:
    // `pending_batch` is one that was taken from the queue, until the collector takes it.
    struct pending_batch {
        std::string encoded;
        std::size_t spans = 0;
        // Moment after which it is not sent again.
        base::instant until{};
    };

    tracing::span_queue& queue_;
    boost::asio::io_context context_{1};
    net::timer next_{context_.get_executor()};
    net::timer end_{context_.get_executor()};
    tracing::resource by_;
    // Null if there is none. A batch under way keeps the one that it goes to.
    std::shared_ptr<probes::collector> to_;
    std::optional<pending_batch> batch_;
    tracing::export_pace pace_;
    std::minstd_rand random_{std::random_device{}()};
    bool stopping_ = false;
    // True if the last request failed.
    bool failing_ = false;
    std::thread thread_;

    void adopt(const probes::collector_options& options);
    void stop();
    net::task<> keep_exporting();
    net::task<base::duration> export_some();
    bool take_batch();
    void drop_batch();
    base::duration put_off(const probes::collector::delivery& failed);
    void note(const std::string& endpoint, const std::string& complaint);
};

void trace_export::exporter::adopt(const probes::collector_options& options)
{
    by_.service_name = options.service_name;
    if (to_ != nullptr && to_->options() == options) {
        return;
    }
    to_.reset();
    if (!options.endpoint.empty()) {
        to_ = std::make_shared<probes::collector>(
            context_.get_executor(), options, "gateway/" GATEWAY_VERSION
        );
    } else if (batch_) {
        drop_batch();
    }
}

// Ends the thread when the last spans are exported, or their time is up.
void trace_export::exporter::stop()
{
    stopping_ = true;
    next_.cancel();
    end_.expires_after(tracing::last_export_timeout);
    end_.async_wait([this](const boost::system::error_code& ec) {
        if (!ec) {
            context_.stop();
        }
    });
}

net::task<> trace_export::exporter::keep_exporting()
{
    base::duration pause = tracing::export_interval;
    while (!stopping_) {
        co_await net::pause(next_, pause);
        pause = co_await export_some();
    }
    co_await export_some();
    to_.reset();
    end_.cancel();
}

// Exports all spans that wait, and returns the pause until the next time. They go on waiting while
// the collector's name is looked up for the first time.
net::task<base::duration> trace_export::exporter::export_some()
{
    for (auto to = to_; to != nullptr && to->is_known() && take_batch(); to = to_) {
        const auto delivery = co_await to->deliver(batch_->encoded, tracing::export_timeout);
        note(to->options().endpoint, delivery.complaint);
        if (!batch_) {
            continue;  // a reload has turned the export off meanwhile
        }
        if (!delivery.complaint.empty()) {
            co_return put_off(delivery);
        }
        queue_.count_dropped(tracing::rejected_spans(delivery.body));
        batch_.reset();
        pace_.taken();
    }
    co_return pace_.taken();
}

// Makes a batch of the spans that wait, unless there is one already. Returns false if there are
// none.
bool trace_export::exporter::take_batch()
{
    if (batch_) {
        return true;
    }
    const std::vector<tracing::span> spans = queue_.take();
    if (!spans.empty()) {
        batch_ = {
            tracing::encode_spans(spans, by_),
            spans.size(),
            base::now() + tracing::longest_delivery};
    }
    return batch_.has_value();
}

void trace_export::exporter::drop_batch()
{
    queue_.count_dropped(batch_->spans);
    batch_.reset();
}

// Returns the pause after the collector has not taken the batch, which is dropped if it will never
// be taken, or not in time.
base::duration trace_export::exporter::put_off(const probes::collector::delivery& failed)
{
    const base::duration wish = tracing::parse_retry_after(failed.retry_after, base::unix_time());
    const double chance = std::uniform_real_distribution<double>{0, 1}(random_);
    const base::duration pause = pace_.failed(wish, chance);
    if (!failed.may_repeat || base::now() + std::max(wish, pause) > batch_->until) {
        drop_batch();
    }
    return pause;
}

void trace_export::exporter::note(const std::string& endpoint, const std::string& complaint)
{
    if (failing_ != complaint.empty()) {
        return;
    }
    failing_ = !complaint.empty();
    const std::string who = "tracing: the collector " + endpoint;
    failing_ ? telemetry::log(
                   log_level::warning,
                   who + " does not take spans: " + complaint +
                       " (logged once; gateway_traces_dropped_total counts the lost spans)"
               )
             : telemetry::log(log_level::info, who + " takes spans again");
}

trace_export::trace_export() = default;

trace_export::~trace_export() = default;

void trace_export::apply(const probes::collector_options& options)
{
    if (exporter_ != nullptr) {
        exporter_->configure(options);
    } else if (!options.endpoint.empty()) {
        exporter_ = std::make_unique<exporter>(queue_, options);
    }
}

}  // namespace gateway
