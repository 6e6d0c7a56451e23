// `find_causes` lists what is wrong at present with the gateway, its stores, its upstreams and its
// limits, which clients are to blame, and since when. The page and `gateway top` show it first.
// Pure.
#pragma once

#include "gateway/admin/admin_sources.hpp"
#include "gateway/admin/stream/recent_top.hpp"
#include "gateway/telemetry/history/history.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace gateway::admin {

// `finding` is one thing that is wrong.
struct finding {
    // "store", "upstream", "client", "limit" or "gateway".
    std::string_view cause;
    // Name of the thing, from the configuration. For a client it is its limit.
    std::string name;
    // For a client, the bucket as in recent_top::bucket; else empty.
    std::string bucket_name{};
    bool is_digest = false;
    // Clause about the thing, for people, that needs the thing's name before it.
    std::string text{};
    // Moment at which it was first found, in Unix time.
    base::duration since{0};
};

struct store_state {
    bool is_up = true;
    // Moment since which it has been up or down, in Unix time.
    base::duration since{0};
    // Reason of its last failure that says something of the store; empty: there was none.
    std::string_view reason{};
};

// States of shared stores by name.
using store_states = telemetry::named<store_state>;

// `evidence` is what the present state is judged by.
struct evidence {
    const telemetry::history& past;
    const std::vector<telemetry::server_figures>& servers;
    const std::vector<telemetry::certificate_figures>& certificates;
    const process_report& process;
    const store_states& stores;
    // Rejections of the last seconds, by bucket.
    const std::vector<recent_top::bucket>& rejected;
    // Present moment in Unix time.
    base::duration now;
};

// Number of last seconds that are judged.
inline constexpr std::size_t seconds_judged = recent_top::window;

// Returns what is wrong: stores first, then upstreams, clients, limits and the gateway. Empty:
// nothing is.
std::vector<finding> find_causes(const evidence& e);

// Sets `since` of what is found now: that of the same finding before, or `now`.
void set_since(std::vector<finding>& found, const std::vector<finding>& before, base::duration now);

}  // namespace gateway::admin
