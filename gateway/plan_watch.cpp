#include "gateway/plan_watch.hpp"

#include "gateway/telemetry/log.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <utility>

namespace gateway {

using telemetry::log;
using telemetry::log_level;

plan_watch::plan_watch(net::executor executor, listener changed)
    : executor_(std::move(executor)),
      changed_(std::move(changed)),
      next_look_(executor_, [this] { look(); })
{
    next_look_.set(interval);
}

void plan_watch::watch(const config::settings& in_force)
{
    ++era_;
    const std::vector<watched> before = std::exchange(all_, {});
    for (std::size_t i = 0; i < in_force.policy->plans.size(); ++i) {
        const policy::plan_section& section = in_force.policy->plans[i];
        const config::written_plans& written = in_force.written_plans[i];
        all_.push_back({
            .name = section.name,
            .path = written.path,
            .part = section.key,
            .stamp = written.stamp,
            .bad = std::nullopt,
            .members = section.members->size(),
        });
        for (const watched& old : before) {
            if (old.name == section.name && old.stamp == written.stamp) {
                all_.back().bad = old.bad;  // The file was not read again.
            }
        }
    }
}

std::vector<telemetry::plan_figures> plan_watch::figures() const
{
    std::vector<telemetry::plan_figures> figures;
    for (const watched& w : all_) {
        const auto errors = errors_.find(w.name);
        figures.push_back(
            {.name = w.name,
             .members = w.members,
             .errors = errors == errors_.end() ? 0 : errors->second,
             .has_file = !w.path.empty(),
             .file_in_force = !w.bad}
        );
    }
    return figures;
}

// Starts to read one changed file. Other changed files have their turn after that.
void plan_watch::look()
{
    next_look_.set(interval);
    if (reading_) {
        return;
    }
    const auto changed = std::find_if(all_.begin(), all_.end(), [](watched& w) {
        const auto stamp = w.path.empty() ? w.stamp : config::stamp_of(w.path);
        if (stamp == w.stamp) {
            w.bad.reset();
        }
        return stamp != w.stamp && stamp != w.bad;
    });
    if (changed != all_.end()) {
        read(*changed);
    }
}

void plan_watch::read(const watched& w)
{
    reading_ = true;
    reader_.post([this, name = w.name, path = w.path, part = w.part, era = era_] {
        boost::asio::post(
            executor_,
            [this, name, era, fresh = config::read_plan_file(path, part)]() mutable {
                reading_ = false;
                if (era == era_) {
                    was_read(name, std::move(fresh));
                }
            }
        );
    });
}

void plan_watch::was_read(const std::string& name, config::plan_file fresh)
{
    const auto old = std::find_if(all_.begin(), all_.end(), [&name](const watched& w) {
        return w.name == name;
    });
    if (fresh.members == nullptr) {
        ++errors_[name];
        old->bad = fresh.stamp;
        log(log_level::error,
            "plans." + name + ": the old file stays in force: " + fresh.complaint);
        return;
    }
    const bool nobody_is_left = fresh.members->size() == 0 && old->members != 0;
    log(nobody_is_left ? log_level::warning : log_level::info,
        "plans." + name + ": " + std::to_string(fresh.members->size()) + " keys read, " +
            std::to_string(old->members) + " before");
    changed_(name, std::move(fresh));
}

}  // namespace gateway
