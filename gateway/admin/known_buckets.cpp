#include "gateway/admin/known_buckets.hpp"

#include "gateway/base/hash.hpp"
#include "gateway/identity/bucket_name.hpp"
#include "gateway/worker/worker.hpp"

#include <algorithm>
#include <unordered_set>
#include <vector>

namespace gateway::admin {

namespace {

using names = std::vector<std::string>;

// Returns the names that a worker keeps.
names names_at(const worker::worker_access& access)
{
    names all;
    for (const auto* const top : {&access.top.by_requests, &access.top.by_rejections}) {
        for (limits::heavy_hitters::hitter& h : top->all()) {
            if (!h.is_digest) {
                all.push_back(std::move(h.name));
            }
        }
    }
    for (limits::known_bans::ban& b : access.top.banned.all(access.now)) {
        all.push_back(std::move(b.name));
    }
    for (limits::rejection& r : access.rejections.after(0)) {
        if (!r.bucket_name.empty()) {
            all.push_back(std::move(r.bucket_name));
        }
    }
    return all;
}

bool is_of(std::string_view limit, const std::string& name)
{
    return identity::limit_of(name) == limit;
}

}  // namespace

bool is_bucket_hash(std::string_view text)
{
    constexpr std::size_t length = 32;
    return text.size() == length &&
           text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

net::task<std::optional<std::string>> find_bucket(
    const admin_sources& from,
    const admin_waiting& wait,
    const std::string& limit,
    const std::string& hash
)
{
    std::vector<awaited<names>> answers;
    for (worker::worker* const w : from.workers()) {
        const auto& answer = answers.emplace_back(wait.loop, wait.until);
        w->ask([answer](worker::worker_access& access) { answer.resolve(names_at(access)); });
    }
    std::unordered_set<std::string> seen;
    for (const auto& answer : answers) {
        auto known = co_await answer.result();
        for (std::string& name : known.value_or(names{})) {
            const bool fresh = is_of(limit, name) && seen.insert(name).second;
            if (fresh && base::sha256_hex128(name) == hash) {
                co_return std::move(name);
            }
        }
    }
    co_return std::nullopt;
}

}  // namespace gateway::admin
