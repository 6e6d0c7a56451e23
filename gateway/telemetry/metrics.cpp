#include "gateway/telemetry/metrics.hpp"

#include <algorithm>

namespace gateway::telemetry {

std::size_t method_index(std::string_view method)
{
    constexpr std::size_t other = method_names.size() - 1;
    std::size_t i = 0;
    while (i < other && method_names[i] != method) {  // Case matters (RFC 9110 §9.1).
        ++i;
    }
    return i;
}

void route_metrics::count_request(std::size_t method, int code)
{
    std::atomic<codes*>& row = requests[method];
    codes* counts = row.load(std::memory_order_relaxed);  // Only this thread stores to it.
    if (counts == nullptr) {
        counts = new codes{};
        row.store(counts, std::memory_order_release);  // A scrape must see zeros, not garbage.
    }
    const auto last = static_cast<int>(counts->size()) - 1;
    const int index = code - first_code;
    (*counts)[static_cast<std::size_t>(index < 0 || index > last ? last : index)].add();
}

void route_metrics::count_grpc(std::size_t status)
{
    grpc_statuses* counts = grpc.load(std::memory_order_relaxed);  // Only this thread stores to it.
    if (counts == nullptr) {
        counts = new grpc_statuses{};
        grpc.store(counts, std::memory_order_release);
    }
    (*counts)[std::min(status, counts->size() - 1)].add();
}

void route_metrics::note_traced(const exemplar& e)
{
    exemplars* kept = traced.load(std::memory_order_relaxed);  // Only this thread stores to it.
    if (kept == nullptr) {
        kept = new exemplars{};
        traced.store(kept, std::memory_order_release);
    }
    kept->note(e);
}

route_metrics::~route_metrics()
{
    delete traced.load(std::memory_order_relaxed);
    delete grpc.load(std::memory_order_relaxed);
    for (const auto& row : requests) {
        delete row.load(std::memory_order_relaxed);
    }
}

}  // namespace gateway::telemetry
