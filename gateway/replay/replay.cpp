#include "gateway/replay/replay.hpp"

#include "gateway/replay/logs/merged_logs.hpp"
#include "gateway/replay/tally.hpp"

#include <algorithm>
#include <utility>

namespace gateway::replay {

namespace {

void describe_logs(const merged_logs& logs, replay_result& result)
{
    result.lines = logs.counts();
    for (const auto& log : logs.logs()) {
        std::string format{log->format()};
        auto& known = result.formats;
        if (format.empty()) {
            result.empty_logs.push_back(log->shown_name());
        } else if (std::find(known.begin(), known.end(), format) == known.end()) {
            known.push_back(std::move(format));
        }
    }
}

}  // namespace

std::variant<replay_result, replay_failure> run_replay(
    const replay_options& options, const std::function<void(const replay_progress&)>& report
)
{
    wanted_parts wanted;
    wanted.add(*options.policy.policy);
    if (options.against) {
        wanted.add(*options.against->policy);
    }
    std::optional<json_format> described;
    if (!options.fields.empty()) {
        std::string complaint;
        described = described_json(options.fields, wanted, complaint);
        if (!described) {
            return replay_failure{"--fields: " + complaint, true};
        }
    }
    if (options.logs.size() > merged_logs::most) {
        return replay_failure{
            "more than " + std::to_string(merged_logs::most) + " logs: replay fewer at a time",
            true};
    }
    if (std::count(options.logs.begin(), options.logs.end(), "-") > 1) {
        return replay_failure{
            "\"-\" is named twice, and the standard input can be read once", true};
    }
    merged_logs logs{options.logs, wanted, described};
    candidate_options asked = options.policy;
    asked.hashes_buckets = options.accepted.any();
    candidate now{asked, wanted};
    std::optional<candidate> before;
    if (options.against) {
        before.emplace(*options.against, wanted);
    }
    tally counts{now, wanted, options.accepted.any(), options.policy.local_store.max_buckets};
    comparison with_other;
    comparison with_log;
    std::uint64_t requests = 0;
    for (const logged_request* r = logs.complaint().empty() ? logs.next() : nullptr; r != nullptr;
         r = logs.next()) {
        const judgement& j = now.judge(*r);
        counts.add(*r, j);
        with_log.add(r->was, j.is, j.client, r->at);
        if (before) {
            with_other.add(before->judge(*r).is, j.is, j.client, r->at);
        }
        if (++requests % progress_every == 0) {
            report({requests, logs.position(), logs.size()});
        }
    }
    if (std::string complaint = logs.complaint(); !complaint.empty()) {
        return replay_failure{std::move(complaint)};
    }
    report({requests, logs.size(), logs.size()});
    replay_result result = counts.finish(options.accepted);
    describe_logs(logs, result);
    if (before) {
        result.against = with_other.finish();
    }
    if (difference d = with_log.finish(); d.compared > 0) {
        result.logged = std::move(d);
    }
    return result;
}

}  // namespace gateway::replay
