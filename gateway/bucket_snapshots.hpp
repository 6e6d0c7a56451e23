// Keeps the local store's buckets in a file, if that is wanted: read at the start, written now and
// then, on a thread of its own, and at the end. The main thread's.
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
    // Requires: a store that nobody has used yet.
    void restore();

    // This process serves: the buckets are its own to write.
    void begin();

    // For the last time.
    void end();

    // The buckets are another process's, which writes them: here no more.
    void leave();

private:
    store::memory_store& buckets_;
    std::optional<store::snapshot_options> options_;
    net::executor executor_;
    net::alarm next_write_;
    // What was wrong last time; empty: nothing.
    std::string complaint_;

    bool writing_ = false;
    // Only if there is a file to write. Its destructor waits for the write under way.
    std::optional<background_thread> writer_;

    void write();
    void stop_writing();
    void was_written(const std::optional<std::string>& complaint);
};

}  // namespace gateway
