// `bucket_snapshots` keeps the local store's buckets in a file, if the configuration has one. It
// reads the file at the start, and writes it at intervals on a thread of its own, and at the end.
// Thread: the main thread.
#pragma once

#include "gateway/net/alarm.hpp"
#include "gateway/process/background_thread.hpp"
#include "gateway/store/memory/memory_store.hpp"

#include <optional>
#include <string>

namespace gateway {

class bucket_snapshots {
public:
    bucket_snapshots(
        net::executor executor,
        store::memory_store& buckets,
        const std::optional<store::snapshot_options>& options
    );

    bucket_snapshots(const bucket_snapshots&) = delete;
    bucket_snapshots& operator=(const bucket_snapshots&) = delete;

    // Reads the file, if there is one.
    // Requires: a store that has not been used yet.
    void restore();

    // Starts writing at intervals, as this process now serves and owns the buckets.
    void begin();

    // Writes the file for the last time.
    void end();

    // Stops writing, as another process now owns the buckets and writes them.
    void leave();

private:
    store::memory_store& buckets_;
    std::optional<store::snapshot_options> options_;
    net::executor executor_;
    net::alarm next_write_;
    // The error of the last write. Empty: there was none.
    std::string complaint_;

    bool writing_ = false;
    // Exists only if there is a file to write. Its destructor waits for a write under way.
    std::optional<background_thread> writer_;

    void write();
    void stop_writing();
    void was_written(const std::optional<std::string>& complaint);
};

}  // namespace gateway
