#include "gateway/bucket_snapshots.hpp"

#include "gateway/store/memory/memory_snapshot.hpp"
#include "gateway/telemetry/log.hpp"

#include <boost/asio/post.hpp>

#include <utility>

namespace gateway {

using telemetry::log;
using telemetry::log_level;

namespace {

std::string about(const store::snapshot_options& o)
{
    return "stores.local.snapshot: " + o.file;
}

}  // namespace

bucket_snapshots::bucket_snapshots(
    net::executor executor,
    store::memory_store& buckets,
    const std::optional<store::snapshot_options>& options
)
    : buckets_(buckets),
      options_(options),
      executor_(std::move(executor)),
      next_write_(executor_, [this] { write(); })
{
    if (options_) {
        writer_.emplace();
    }
}

void bucket_snapshots::begin()
{
    if (options_) {
        next_write_.set(options_->interval);
    }
}

void bucket_snapshots::restore()
{
    if (!options_) {
        return;
    }
    const auto read = store::restore_snapshot(buckets_, options_->file);
    if (!read) {
        log(log_level::info, about(*options_) + " is not there yet");
        return;
    }
    if (!read->complaint.empty()) {
        log(log_level::error,
            about(*options_) + ' ' + read->complaint + ": what is missing begins full");
        return;
    }
    const auto seconds = std::chrono::floor<std::chrono::seconds>(read->ago).count();
    log(log_level::info,
        about(*options_) + ": " + std::to_string(read->buckets) + " buckets, written " +
            std::to_string(seconds) + " s ago");
    if (read->lost > 0) {
        log(log_level::warning,
            about(*options_) + ": no room for " + std::to_string(read->lost) +
                " more, which begin full: raise stores.local.max_buckets");
    }
}

// Starts a write, unless the last one takes longer than the interval and is still under way.
void bucket_snapshots::write()
{
    next_write_.set(options_->interval);
    if (std::exchange(writing_, true)) {
        return;
    }
    writer_->post([this] {
        boost::asio::post(
            executor_,
            [this, complaint = store::save_snapshot(buckets_, options_->file)] {
                writing_ = false;
                was_written(complaint);
            }
        );
    });
}

void bucket_snapshots::stop_writing()
{
    next_write_.cancel();
    writer_.reset();
}

void bucket_snapshots::was_written(const std::optional<std::string>& complaint)
{
    if (!options_) {
        return;  // leave() has been called meanwhile.
    }
    const std::string now = complaint.value_or("");
    if (now != complaint_ && !now.empty()) {
        log(log_level::error, about(*options_) + " cannot be written: " + now);
    } else if (now != complaint_) {
        log(log_level::info, about(*options_) + " is written again");
    }
    complaint_ = now;
}

void bucket_snapshots::leave()
{
    stop_writing();
    options_.reset();
}

void bucket_snapshots::end()
{
    stop_writing();
    if (options_) {
        was_written(store::save_snapshot(buckets_, options_->file));
    }
}

}  // namespace gateway
