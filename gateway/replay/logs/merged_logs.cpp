#include "gateway/replay/logs/merged_logs.hpp"

namespace gateway::replay {

merged_logs::merged_logs(
    std::span<const std::string> paths,
    const wanted_parts& wanted,
    const std::optional<json_format>& described
)
{
    for (const std::string& path : paths) {
        logs_.push_back(std::make_unique<ordered_log>(path, wanted, described));
    }
}

const logged_request* merged_logs::next()
{
    if (last_ != nullptr) {
        last_->pop();
        last_ = nullptr;
    }
    const logged_request* earliest = nullptr;
    for (const auto& log : logs_) {
        const logged_request* const front = log->front();
        if (front != nullptr && (earliest == nullptr || front->at < earliest->at)) {
            earliest = front;
            last_ = log.get();
        }
    }
    return earliest;
}

std::string merged_logs::complaint() const
{
    for (const auto& log : logs_) {
        if (!log->complaint().empty()) {
            return log->complaint();
        }
    }
    return {};
}

line_counts merged_logs::counts() const
{
    line_counts all;
    for (const auto& log : logs_) {
        const line_counts& c = log->counts();
        all.lines += c.lines;
        all.bad += c.bad;
        all.late += c.late;
        if (!all.first_bad) {
            all.first_bad = c.first_bad;
        }
    }
    return all;
}

std::uint64_t merged_logs::size() const
{
    std::uint64_t all = 0;
    for (const auto& log : logs_) {
        if (log->bytes().size() == 0) {
            return 0;
        }
        all += log->bytes().size();
    }
    return all;
}

std::uint64_t merged_logs::position() const
{
    std::uint64_t all = 0;
    for (const auto& log : logs_) {
        all += log->bytes().position();
    }
    return all;
}

}  // namespace gateway::replay
