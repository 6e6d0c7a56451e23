#include "gateway/admin/stream/findings.hpp"

#include "gateway/identity/bucket_name.hpp"
#include "gateway/proxy/failure.hpp"

#include <algorithm>
#include <map>
#include <span>
#include <utility>

namespace gateway::admin {

namespace {

using telemetry::outcome;

// Rejections in the window from which on a client, or a limit, is worth a look.
constexpr std::uint64_t many_rejections = 20;
// Percentage of all rejections that makes one client the cause.
constexpr std::uint64_t most_of_all = 50;
// Percentage of rejected requests that makes a limit worth a look.
constexpr std::uint64_t many_of_requests = 20;
// Failures of an upstream in the window that are worth a look.
constexpr std::uint64_t many_failures = 3;
constexpr base::duration certificate_notice = std::chrono::hours{14 * 24};

// Sums over the last seconds.
struct recent_sums {
    struct of_limit {
        std::uint64_t decided = 0;
        // Rejections, and among them those of shadow mode, which reject no request.
        std::uint64_t rejected = 0;
        std::uint64_t in_shadow = 0;

        bool is_shadow() const { return in_shadow > 0 && in_shadow == rejected; }
    };

    struct of_upstream {
        std::uint64_t responses = 0;
        std::uint64_t failures = 0;
        std::string_view reason{};
    };

    std::uint64_t errors = 0;
    std::uint64_t requests = 0;
    std::map<std::string_view, of_limit> limits{};
    std::map<std::string_view, of_upstream> upstreams{};
    // Failures by store.
    std::map<std::string_view, std::uint64_t> stores{};
};

recent_sums sums_of(const telemetry::history& past)
{
    recent_sums sums;
    const auto& seconds = past.seconds();
    const std::size_t count = std::min(seconds.size(), seconds_judged);
    for (auto s = seconds.end() - static_cast<std::ptrdiff_t>(count); s != seconds.end(); ++s) {
        sums.errors += s->requests.errors;
        sums.requests += s->requests.all();
        for (const telemetry::limit_second& l : s->limits) {
            recent_sums::of_limit& sum = sums.limits[past.limit_name(l)];
            for (const std::uint32_t n : l.decisions) {
                sum.decided += n;
            }
            sum.in_shadow += l.of(outcome::shadow_rejected);
            sum.rejected += l.of(outcome::rejected) + l.of(outcome::shadow_rejected);
        }
        for (const telemetry::upstream_second& u : s->upstreams) {
            auto& sum = sums.upstreams[past.upstream_name(u)];
            sum.responses += u.responses;
            sum.failures += u.failures;
            sum.reason = u.reason ? proxy::failure_names[*u.reason] : sum.reason;
        }
        for (const telemetry::store_second& st : s->stores) {
            sums.stores[past.store_name(st)] += st.failures;
        }
    }
    return sums;
}

std::string with_reason(std::string text, std::string_view reason)
{
    return reason.empty() ? text : text.append(": ").append(reason);
}

std::string percent(std::uint64_t part, std::uint64_t whole)
{
    return std::to_string(whole == 0 ? 0 : part * 100 / whole) + " %";
}

void judge_stores(const evidence& e, const recent_sums& sums, std::vector<finding>& found)
{
    for (const auto& [name, store] : e.stores) {
        const auto recent = sums.stores.find(name);
        const std::uint64_t failures = recent == sums.stores.end() ? 0 : recent->second;
        std::string text;
        if (!store.is_up) {
            text =
                with_reason("is down", store.reason) + "; limits in it decide by on_store_failure";
        } else if (failures >= many_failures) {
            text = with_reason(
                "has failed " + std::to_string(failures) + " calls in the last 10 s", store.reason
            );
        }
        if (!text.empty()) {
            found.push_back({.cause = "store", .name = name, .text = std::move(text)});
        }
    }
}

std::string absence_of(const telemetry::server_figures& s)
{
    if (!s.healthy) {
        return "fails its health checks";
    }
    const auto left = std::chrono::ceil<std::chrono::seconds>(s.ejected_for).count();
    return "is ejected for " + std::to_string(left) + " s more, after failures one after the other";
}

void judge_upstreams(const evidence& e, const recent_sums& sums, std::vector<finding>& found)
{
    std::map<std::string_view, bool> named;
    for (const telemetry::server_figures& s : e.servers) {
        const auto& [upstream, server] = s.name;
        if (!s.up) {
            const auto recent = sums.upstreams.find(upstream);
            const auto reason =
                recent == sums.upstreams.end() ? std::string_view{} : recent->second.reason;
            std::string name = upstream;
            name.append(" server ").append(server);
            found.push_back(
                {.cause = "upstream",
                 .name = std::move(name),
                 .text = with_reason(absence_of(s), reason)}
            );
            named[upstream] = true;
        }
    }
    for (const auto& [name, sum] : sums.upstreams) {
        if (sum.failures >= many_failures && !named.contains(name)) {
            found.push_back(
                {.cause = "upstream",
                 .name = std::string{name},
                 .text = with_reason(
                     "has failed " + std::to_string(sum.failures) +
                         " times in the last 10 s, beside " + std::to_string(sum.responses) +
                         " responses",
                     sum.reason
                 )}
            );
        }
    }
}

// Returns the limits of which one client has most of the rejections.
std::vector<std::string> judge_clients(
    const evidence& e, const recent_sums& sums, std::vector<finding>& found
)
{
    std::vector<std::string> explained;
    for (const recent_top::bucket& b : e.rejected) {
        std::string limit{identity::limit_of(b.name)};
        const auto counted = sums.limits.find(limit);
        const auto sum = counted == sums.limits.end() ? recent_sums::of_limit{} : counted->second;
        const std::uint64_t all = std::max(b.count, sum.rejected);
        const std::string by = sum.is_shadow()
                                   ? " requests that limit " + limit + " (shadow) would reject"
                                   : " requests rejected by limit " + limit;
        if (b.count >= many_rejections && b.count * 100 >= all * most_of_all) {
            found.push_back(
                {.cause = "client",
                 .name = limit,
                 .bucket_name = b.name,
                 .is_digest = b.is_digest,
                 .text = "has " + std::to_string(b.count) + by + " in the last 10 s, " +
                         percent(b.count, all) + " of its rejections"}
            );
            explained.push_back(std::move(limit));
        }
    }
    return explained;
}

void judge_limits(
    const recent_sums& sums, std::span<const std::string> explained, std::vector<finding>& found
)
{
    for (const auto& [name, sum] : sums.limits) {
        const bool many =
            sum.rejected >= many_rejections && sum.rejected * 100 >= sum.decided * many_of_requests;
        if (many && std::find(explained.begin(), explained.end(), name) == explained.end()) {
            found.push_back(
                {.cause = "limit",
                 .name = std::string{name},
                 .text = (sum.is_shadow() ? "(shadow) would reject " : "rejects ") +
                         percent(sum.rejected, sum.decided) +
                         " of its requests in the last 10 s, of many clients"}
            );
        }
    }
}

void judge_gateway(const evidence& e, const recent_sums& sums, std::vector<finding>& found)
{
    const auto note = [&found](std::string_view name, std::string text) {
        found.push_back({.cause = "gateway", .name = std::string{name}, .text = std::move(text)});
    };
    std::uint64_t of_upstreams = 0;
    for (const auto& [name, sum] : sums.upstreams) {
        of_upstreams += sum.failures;
    }
    if (sums.errors >= many_failures && of_upstreams == 0) {
        note(
            "responses",
            std::to_string(sums.errors) + " responses of 500 and above in the last 10 s, " +
                "which no failure of an upstream explains"
        );
    }
    const auto clients =
        static_cast<std::size_t>(std::max<std::int64_t>(e.past.last().connections.clients, 0));
    if (clients * 10 >= e.process.max_connections * 9) {
        note(
            "max_connections",
            "clients have " + std::to_string(clients) + " connections, of at most " +
                std::to_string(e.process.max_connections) + ": others wait"
        );
    }
    if (e.process.draining) {
        note("drain", "the process is draining: it takes no new connections, and ends");
    }
    if (!e.process.reload.succeeded) {
        note("configuration", "the last reload was refused: the old configuration is in force");
    }
    for (const std::string& plans : e.process.plans_refused) {
        note("plans." + plans, "its file was refused: the old members are in force");
    }
    for (const telemetry::certificate_figures& c : e.certificates) {
        if (c.expires - e.now < certificate_notice) {
            const auto days =
                std::chrono::floor<std::chrono::hours>(c.expires - e.now).count() / 24;
            note(
                "certificate " + c.name,
                c.expires <= e.now ? "has expired" : "expires in " + std::to_string(days) + " days"
            );
        }
    }
}

}  // namespace

std::vector<finding> find_causes(const evidence& e)
{
    const recent_sums sums = sums_of(e.past);
    std::vector<finding> found;
    judge_stores(e, sums, found);
    judge_upstreams(e, sums, found);
    const std::vector<std::string> explained = judge_clients(e, sums, found);
    judge_limits(sums, explained, found);
    judge_gateway(e, sums, found);
    return found;
}

void set_since(std::vector<finding>& found, const std::vector<finding>& before, base::duration now)
{
    for (finding& f : found) {
        const auto same = std::find_if(before.begin(), before.end(), [&f](const finding& b) {
            return b.cause == f.cause && b.name == f.name && b.bucket_name == f.bucket_name;
        });
        f.since = same == before.end() ? now : same->since;
    }
}

}  // namespace gateway::admin
