#include "gateway/admin/stream/watch.hpp"

#include "gateway/admin/awaited.hpp"
#include "gateway/admin/json_text.hpp"
#include "gateway/admin/stream/event_id.hpp"
#include "gateway/admin/stream/second_json.hpp"
#include "gateway/store/failure.hpp"
#include "gateway/worker/worker.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace gateway::admin {

namespace {

constexpr base::duration one_second = std::chrono::seconds{1};
// Longest wait for what workers have to report.
constexpr base::duration longest_wait = std::chrono::milliseconds{500};
// Seconds after which certificates are read again, although no reload has happened.
constexpr std::uint64_t certificates_last = 60;

constexpr std::array both{audience::anybody, audience::with_token};

}  // namespace

struct watch::worker_report {
    std::vector<limits::rejection> rejections;
    std::uint64_t rejection_count = 0;
    std::vector<limits::heavy_hitters::hitter> by_requests;
    std::vector<limits::heavy_hitters::hitter> by_rejections;
};

watch::watch(const net::executor& loop, admin_sources from)
    : loop_(loop),
      from_(std::move(from)),
      process_(
          std::to_string(std::chrono::floor<std::chrono::milliseconds>(base::unix_time()).count())
      ),
      past_(from_.totals()),
      next_(loop)
{
    next_.expires_at(net::timer::time_point::max());
}

net::task<> watch::look(std::shared_ptr<watch> w)
{
    net::timer tick(w->loop_);
    base::instant due = base::now() + one_second;
    while (true) {
        tick.expires_at(due);
        co_await tick.async_wait(net::use_task);
        due = std::max(due + one_second, base::now());
        co_await w->collect();
        w->count_second();
        w->next_.cancel();
    }
}

// Asks all workers at once what they have to report. A worker that does not answer in time is asked
// again in the next second.
net::task<> watch::collect()
{
    const std::vector<worker::worker*> workers = from_.workers();
    collected_.resize(workers.size());
    std::vector<awaited<worker_report>> answers;
    for (std::size_t i = 0; i < workers.size(); ++i) {
        const auto& answer = answers.emplace_back(loop_, base::now() + longest_wait);
        workers[i]->ask([answer, seen = collected_[i]](worker::worker_access& access) {
            answer.resolve({
                .rejections = access.rejections.after(seen),
                .rejection_count = access.rejections.count(),
                .by_requests = access.top.by_requests.all(),
                .by_rejections = access.top.by_rejections.all(),
            });
        });
    }
    std::vector<limits::rejection> fresh;
    std::vector<std::vector<limits::heavy_hitters::hitter>> requests;
    std::vector<std::vector<limits::heavy_hitters::hitter>> rejections;
    for (std::size_t i = 0; i < answers.size(); ++i) {
        auto result = co_await answers[i].result();
        if (!result) {
            continue;
        }
        collected_[i] = result->rejection_count;
        std::move(result->rejections.begin(), result->rejections.end(), std::back_inserter(fresh));
        requests.push_back(std::move(result->by_requests));
        rejections.push_back(std::move(result->by_rejections));
    }
    if (requests.size() == workers.size()) {
        by_requests_.add(merged(requests));
        by_rejections_.add(merged(rejections));
    }
    note_rejections(std::move(fresh));
}

void watch::note_rejections(std::vector<limits::rejection> fresh)
{
    std::stable_sort(fresh.begin(), fresh.end(), [](const auto& a, const auto& b) {
        return a.at < b.at;
    });
    const base::duration to_unix = base::unix_time() - base::now().time_since_epoch();
    for (limits::rejection& r : fresh) {
        const base::duration at = r.at.time_since_epoch() + to_unix;
        rejections_.push_back({past_.last_number() + 1, at, std::move(r)});
    }
    while (rejections_.size() > most_rejections) {
        rejections_.pop_front();
    }
}

void watch::count_second()
{
    past_.add(from_.totals(), base::unix_time());
    note_stores();
    refresh_certificates();
    const process_report process = from_.process();
    std::vector<finding> found = find_causes({
        .past = past_,
        .servers = from_.servers(),
        .certificates = certificates_,
        .process = process,
        .stores = stores_,
        .rejected = by_rejections_.all(),
        .now = base::unix_time(),
    });
    set_since(found, found_, base::unix_time());
    found_ = std::move(found);
    if (viewers_ > 0) {
        refresh_sections(past_.last_number());
    }
}

// Notes since when each shared store has been up or down, and why it failed last. That the breaker
// is open says nothing of the store.
void watch::note_stores()
{
    constexpr auto breaker = static_cast<std::uint8_t>(store::failure::open);
    const telemetry::second& last = past_.seconds().back();
    for (const telemetry::store_second& s : last.stores) {
        if (s.reason && *s.reason != breaker) {
            stores_[std::string{past_.store_name(s)}].reason = store::failure_names[*s.reason];
        }
    }
    for (const auto& [name, now] : past_.last().stores) {
        store_state& state = stores_[name];
        if (state.since == base::duration{0} || state.is_up != now.is_up) {
            state.is_up = now.is_up;
            state.since = last.at;
        }
    }
    std::erase_if(stores_, [this](const auto& one) {
        return !past_.last().stores.contains(one.first);
    });
}

void watch::refresh_certificates()
{
    auto policy = from_.policy();
    if (policy != certificates_of_ || past_.last_number() >= certificates_at_ + certificates_last) {
        certificates_ = from_.certificates();
        certificates_of_ = std::move(policy);
        certificates_at_ = past_.last_number();
    }
}

void watch::begin_view(std::uint64_t seen)
{
    const std::uint64_t last = past_.last_number();
    // Other viewers have the sections of the last second, and get what changes with the next one.
    if (++viewers_ == 1 && last > 0) {
        refresh_sections(seen == last ? last + 1 : last);
    }
}

// Sets the sections as they are in the second of this number.
void watch::refresh_sections(std::uint64_t number)
{
    const auto policy = from_.policy();
    const process_report process = from_.process();
    const auto& totals = past_.last();
    for (const audience a : both) {
        sections_.set("process", a, process_json(process, totals.connections, a), number);
        sections_.set("findings", a, findings_json(*policy, found_, a), number);
        sections_.set("limits", a, limits_json(*policy), number);
        sections_.set("top_requests", a, top_json(*policy, by_requests_.all(), a), number);
        sections_.set("top_rejections", a, top_json(*policy, by_rejections_.all(), a), number);
        sections_.set("stores", a, stores_json(*policy, totals, stores_, process), number);
        sections_.set("servers", a, servers_json(from_.servers(), totals), number);
        sections_.set("certificates", a, certificates_json(certificates_), number);
    }
}

std::uint64_t watch::append_events(
    std::string& to, std::uint64_t seen, audience for_whom, std::size_t most_bytes
) const
{
    const std::size_t before = to.size();
    const std::uint64_t last = past_.last_number();
    std::uint64_t sent = seen;
    for (const telemetry::second& s : past_.seconds()) {
        if (s.number <= seen) {
            continue;
        }
        to.append("id: ").append(event_id(process_, s.number)).append("\ndata: ");
        to += json_text(second_json(past_, s));
        to.pop_back();
        if (s.number == last) {
            sections_.append_changed(to, for_whom, seen);
            append_rejections(to, seen, for_whom);
        }
        to += "}\n\n";
        sent = s.number;
        if (to.size() - before >= most_bytes) {
            break;
        }
    }
    return sent;
}

void watch::append_rejections(std::string& to, std::uint64_t seen, audience for_whom) const
{
    const auto policy = from_.policy();
    boost::json::array fresh;
    for (const kept_rejection& r : rejections_) {
        if (r.number > seen) {
            fresh.push_back(rejection_json(*policy, r.what, r.at, for_whom));
        }
    }
    if (!fresh.empty()) {
        to.append(",\"rejections\":").append(json_text(fresh));
    }
}

net::task<> watch::next_second()
{
    co_await next_.async_wait(net::use_task);
}

}  // namespace gateway::admin
