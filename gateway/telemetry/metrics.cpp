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

namespace {

// Returns what the pointer points to, which is made if there is none. A scrape sees it whole.
// Thread: the only one that stores to the pointer.
template <typename T>
T& made_at(std::atomic<T*>& pointer)
{
    T* made = pointer.load(std::memory_order_relaxed);
    if (made == nullptr) {
        made = new T{};
        pointer.store(made, std::memory_order_release);
    }
    return *made;
}

}  // namespace

void route_metrics::count_request(std::size_t method, int code)
{
    codes& counts = made_at(requests[method]);
    const auto last = static_cast<int>(counts.size()) - 1;
    const int index = code - first_code;
    counts[static_cast<std::size_t>(index < 0 || index > last ? last : index)].add();
}

void route_metrics::count_grpc(std::size_t status)
{
    grpc_statuses& counts = made_at(grpc);
    counts[std::min(status, counts.size() - 1)].add();
}

void route_metrics::note_traced(const exemplar& e)
{
    made_at(traced).note(e);
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
