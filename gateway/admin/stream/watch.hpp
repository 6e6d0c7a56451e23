// `watch` looks at the counters once a second, whether or not anybody views them, and keeps what
// the page and `gateway top` show: the last ten minutes, the last rejections, and the present
// state.
// Thread: the main thread.
#pragma once

#include "gateway/admin/admin_sources.hpp"
#include "gateway/admin/stream/recent_top.hpp"
#include "gateway/admin/stream/sections.hpp"
#include "gateway/admin/stream/state_json.hpp"
#include "gateway/net/task.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace gateway::admin {

class watch {
public:
    // Most rejections of all workers together that are kept.
    static constexpr std::size_t most_rejections = limits::recent_rejections::most;

    watch(const net::executor& loop, admin_sources from);

    // Looks until the loop ends. `w` is kept alive.
    static net::task<> look(std::shared_ptr<watch> w);

    const telemetry::history& past() const { return past_; }

    // Returns the text by which event_id tells this process from others.
    const std::string& process() const { return process_; }

    // Brings the sections up to date for a viewer that has seen the second of this number, or 0.
    // They stay so while somebody views them.
    void begin_view(std::uint64_t seen);

    void end_view() { --viewers_; }

    std::size_t viewers() const { return viewers_; }

    // Appends the events after the one of the number `seen`, and returns the number of the last of
    // them. Stops after `most_bytes`, for the caller to go on.
    std::uint64_t append_events(
        std::string& to, std::uint64_t seen, audience for_whom, std::size_t most_bytes
    ) const;

    // Waits for the next second, or for wake_viewers().
    net::task<> next_second();

    void wake_viewers() { next_.cancel(); }

private:
    // `worker_report` is what one worker reports in a second.
    struct worker_report;

    struct kept_rejection {
        // Number of the second in which it was collected.
        std::uint64_t number;
        // Moment in Unix time.
        base::duration at;
        limits::rejection what;
    };

    net::executor loop_;
    const admin_sources from_;
    const std::string process_;
    telemetry::history past_;
    recent_top by_requests_{};
    recent_top by_rejections_{};
    std::deque<kept_rejection> rejections_{};
    // [i] is the number of rejections that worker i has reported.
    std::vector<std::uint64_t> collected_{};
    std::vector<finding> found_{};
    store_states stores_{};
    std::vector<telemetry::certificate_figures> certificates_{};
    std::shared_ptr<const policy::policy> certificates_of_{};
    std::uint64_t certificates_at_ = 0;
    sections sections_{};
    std::size_t viewers_ = 0;
    net::timer next_;

    net::task<> collect();
    void note_rejections(std::vector<limits::rejection> fresh);
    void count_second();
    void note_stores();
    void refresh_certificates();
    void refresh_sections(std::uint64_t number);
    void append_rejections(std::string& to, std::uint64_t seen, audience for_whom) const;
};

}  // namespace gateway::admin
