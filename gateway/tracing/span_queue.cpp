#include "gateway/tracing/span_queue.hpp"

#include <iterator>
#include <utility>

namespace gateway::tracing {

void span_queue::add(std::vector<span> spans)
{
    const std::size_t count = spans.size();
    {
        const std::lock_guard lock(mutex_);
        if (count_ + count <= max_queued_spans) {
            count_ += count;
            waiting_.push_back(std::move(spans));
            return;
        }
    }
    count_dropped(count);
}

// Joins the spans without the lock, as a worker may wait for it.
std::vector<span> span_queue::take()
{
    std::vector<std::vector<span>> taken;
    {
        const std::lock_guard lock(mutex_);
        for (std::size_t n = 0; n < max_batch_spans && !waiting_.empty(); waiting_.pop_front()) {
            n += waiting_.front().size();
            taken.push_back(std::move(waiting_.front()));
        }
        for (const auto& of_request : taken) {
            count_ -= of_request.size();
        }
    }
    std::vector<span> spans;
    for (auto& of_request : taken) {
        std::move(of_request.begin(), of_request.end(), std::back_inserter(spans));
    }
    return spans;
}

}  // namespace gateway::tracing
