// `trace_export` sends the spans of recorded requests to a collector, in batches and from a thread
// of its own. A collector that is slow, gone or full costs no request anything: a batch that it
// does not take now is sent again for a while, and then dropped and counted.
// Thread: the main thread.
#pragma once

#include "gateway/probes/collector_options.hpp"
#include "gateway/tracing/span_queue.hpp"

#include <cstdint>
#include <memory>

namespace gateway {

class trace_export {
public:
    trace_export();
    // Exports what is left, for last_export_timeout at most.
    ~trace_export();

    trace_export(const trace_export&) = delete;
    trace_export& operator=(const trace_export&) = delete;

    // Takes the spans of workers.
    tracing::span_queue& queue() { return queue_; }

    // Exports to this collector from now on. Makes the thread when there is a collector for the
    // first time.
    void apply(const probes::collector_options& options);

private:
    class exporter;

    tracing::span_queue queue_;
    std::unique_ptr<exporter> exporter_;
};

}  // namespace gateway
