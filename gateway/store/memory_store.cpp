#include "gateway/store/memory_store.hpp"

#include "gateway/limit/bucket.hpp"
#include "gateway/store/memory_table.hpp"
#include "gateway/store/spin_lock.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cassert>
#include <map>
#include <string>
#include <utility>

namespace gateway::store {

namespace {

limit::decision to_decision(const limit::step& s)
{
    return {
        .allowed = s.allowed,
        .remaining = s.remaining,
        .retry_after = base::duration{s.retry_in},
        .reset_after = base::duration{s.full_in},
    };
}

// What a limit that would have allowed says when another one rejects: its bucket as it is.
limit::decision untouched(const limit::terms& t, const limit::bucket& b, std::int64_t now)
{
    const std::int64_t owed = std::max(limit::rescaled(b, t, now), now) - now;
    return {
        .allowed = true,
        .remaining = std::max<std::int64_t>(t.burst - limit::ceil_div(owed, t.interval), 0),
        .retry_after = base::duration{0},
        .reset_after = base::duration{owed},
    };
}

}  // namespace

struct memory_store::table {
    explicit table(const memory_options& options)
        : key(base::random_hash_key()), on_full(options.on_full), buckets(options.max_buckets)
    {}

    const base::hash_key key;
    const memory_options::when_full on_full;
    memory_table buckets;
    std::atomic<std::uint64_t> turned_away{0};

    // Where clients without a slot are charged, by limit name; taken after any segment's lock. A
    // client that gets a slot starts it with this debt, which holds its own, while there is any.
    spin_lock shared_lock;
    std::map<std::string, limit::bucket, std::less<>> shared;
    std::atomic<std::size_t> shared_count{0};  // what shared.size() is, readable without the lock

    class taking;

    void forget_shared(std::int64_t now);
};

// One question being answered: its segments are locked from construction to destruction.
class memory_store::table::taking {
public:
    taking(table& of, std::span<const charge> charges, std::int64_t now)
        : table_(of), charges_(charges), now_(now)
    {
        assert(charges.size() <= max_charges);
        locate();
        lock();
    }

    ~taking();
    taking(const taking&) = delete;
    taking& operator=(const taking&) = delete;

    bool find_places();  // false: no room, and there must be some
    void take(answer& a);

private:
    enum class kind : std::uint8_t { kept, promised, shared };

    struct place {
        kind what;
        std::uint8_t first;  // the first charge of the question with the same bucket; maybe itself
        std::uint32_t segment;
        slot* found;
        limit::bucket* pool;  // the shared bucket
        limit::terms terms;
        limit::bucket before;
        limit::bucket after;
    };

    table& table_;
    std::span<const charge> charges_;
    std::int64_t now_;
    std::size_t locked_count_ = 0;
    bool shared_locked_ = false;

    // Filled up to charges_.size() and locked_count_; clearing all of it would cost 20 ns.
    union {
        std::array<place, max_charges> places_;
    };

    union {
        std::array<base::hash128, max_charges> names_;
    };

    std::array<std::uint32_t, max_charges> locked_;

    std::span<const base::hash128> names() const { return {names_.data(), charges_.size()}; }

    segment& segment_of(const place& p) { return table_.buckets.at(p.segment); }

    void locate();
    void lock();
    void lock_shared();
    bool promise_room(std::size_t i);
    void use_shared(std::size_t i);
    void read_places();
    void store_all(const answer& a);
};

void memory_store::table::taking::locate()
{
    for (std::size_t i = 0; i < charges_.size(); ++i) {
        names_[i] = base::siphash128(table_.key, charges_[i].bucket_name);
        const std::size_t in = table_.buckets.segment_of(names_[i]);
        table_.buckets.at(in).prefetch(names_[i]);
        std::uint8_t first = 0;
        while (!(names_[first] == names_[i])) {
            ++first;
        }
        places_[i] = {
            .what = kind::kept,
            .first = first,
            .segment = static_cast<std::uint32_t>(in),
            .found = nullptr,
            .pool = nullptr,
            .terms = charges_[i].limit->in_nanoseconds(),
            .before = {},
            .after = {},
        };
    }
}

void memory_store::table::taking::lock()
{
    for (std::size_t i = 0; i < charges_.size(); ++i) {
        locked_[i] = places_[i].segment;
    }
    const auto end = locked_.begin() + static_cast<std::ptrdiff_t>(charges_.size());
    std::sort(locked_.begin(), end);
    locked_count_ = static_cast<std::size_t>(std::unique(locked_.begin(), end) - locked_.begin());
    for (std::size_t i = 0; i < locked_count_; ++i) {
        table_.buckets.at(locked_[i]).lock();
    }
}

memory_store::table::taking::~taking()
{
    for (std::size_t i = 0; i < charges_.size(); ++i) {
        if (places_[i].what == kind::promised && places_[i].first == i) {
            table_.buckets.release(segment_of(places_[i]));
        }
    }
    if (shared_locked_) {
        table_.shared_lock.unlock();
    }
    for (std::size_t i = locked_count_; i-- > 0;) {
        table_.buckets.at(locked_[i]).unlock();
    }
}

void memory_store::table::taking::lock_shared()
{
    if (!shared_locked_) {
        table_.shared_lock.lock();
        shared_locked_ = true;
    }
}

bool memory_store::table::taking::find_places()
{
    bool moved = false;
    for (std::size_t i = 0; i < charges_.size(); ++i) {
        place& p = places_[i];
        if (p.first == i) {
            p.found = segment_of(p).find(names_[i]);
            moved = moved || p.found == nullptr;
        }
    }
    for (std::size_t i = 0; moved && i < charges_.size(); ++i) {
        if (places_[i].first == i && places_[i].found == nullptr && !promise_room(i)) {
            return false;
        }
    }
    for (std::size_t i = 0; moved && i < charges_.size(); ++i) {
        if (places_[i].found != nullptr) {
            places_[i].found = segment_of(places_[i]).find(names_[i]);
        }
    }
    read_places();
    return true;
}

bool memory_store::table::taking::promise_room(std::size_t i)
{
    place& p = places_[i];
    if (table_.buckets.reserve(segment_of(p), now_, names())) {
        p.what = kind::promised;
        if (table_.shared_count.load(std::memory_order_relaxed) > 0) {
            lock_shared();
            const auto debt = table_.shared.find(charges_[i].limit_name);
            p.before = debt == table_.shared.end() ? limit::bucket{} : debt->second;
        }
        return true;
    }
    table_.turned_away.fetch_add(1, std::memory_order_relaxed);
    if (table_.on_full == memory_options::when_full::reject) {
        return false;
    }
    use_shared(i);
    return true;
}

void memory_store::table::taking::use_shared(std::size_t i)
{
    lock_shared();
    auto pool = table_.shared.find(charges_[i].limit_name);
    if (pool == table_.shared.end()) {
        pool = table_.shared.emplace(charges_[i].limit_name, limit::bucket{}).first;
        table_.shared_count.store(table_.shared.size(), std::memory_order_relaxed);
    }
    place& p = places_[i];
    p.what = kind::shared;
    p.pool = &pool->second;
    p.before = pool->second;
    for (std::uint8_t j = 0; j < i; ++j) {  // two clients of one limit may share it in one question
        if (places_[j].pool == p.pool) {
            p.first = j;
            return;
        }
    }
}

void memory_store::table::taking::read_places()
{
    for (std::size_t i = 0; i < charges_.size(); ++i) {
        place& p = places_[i];
        if (p.found != nullptr) {
            p.before = p.found->bucket;
        }
        p.after = p.before;
    }
}

void memory_store::table::taking::take(answer& a)
{
    std::array<limit::decision, max_charges> said;
    for (std::size_t i = 0; i < charges_.size(); ++i) {
        const place& p = places_[i];
        limit::bucket& running = places_[places_[p.first].first].after;
        const limit::step s = limit::take(p.terms, running, now_, charges_[i].cost);
        if (s.allowed) {
            running = {s.full_at, p.terms.interval};
        }
        a.admitted = a.admitted && (s.allowed || !charges_[i].enforced);
        said[i] = to_decision(s);
    }
    for (std::size_t i = 0; i < charges_.size(); ++i) {
        const place& p = places_[i];
        const limit::bucket& before = places_[places_[p.first].first].before;
        a.add(a.admitted || !said[i].allowed ? said[i] : untouched(p.terms, before, now_));
    }
    if (a.admitted) {
        store_all(a);
    }
}

void memory_store::table::taking::store_all(const answer& a)
{
    for (std::size_t i = 0; i < charges_.size(); ++i) {
        if (!a.decisions()[i].allowed) {
            continue;
        }
        place& p = places_[places_[places_[i].first].first];
        const std::size_t index = static_cast<std::size_t>(&p - places_.data());
        switch (p.what) {
            case kind::kept:
                segment_of(p).store(*p.found, p.after);
                break;
            case kind::shared:
                *p.pool = p.after;
                break;
            case kind::promised:
                table_.buckets.fulfil(segment_of(p), {names_[index], p.after}, now_, names());
                p.what = kind::kept;
                p.found = segment_of(p).find(names_[index]);
                break;
        }
    }
}

void memory_store::table::forget_shared(std::int64_t now)
{
    if (shared_count.load(std::memory_order_relaxed) == 0) {
        return;
    }
    shared_lock.lock();
    std::erase_if(shared, [now](const auto& entry) { return entry.second.full_at <= now; });
    shared_count.store(shared.size(), std::memory_order_relaxed);
    shared_lock.unlock();
}

memory_store::memory_store(const memory_options& options) : table_(std::make_unique<table>(options))
{}

memory_store::~memory_store() = default;

std::optional<answer> memory_store::take(std::span<const charge> charges, base::instant now)
{
    std::optional<answer> a;
    table::taking question{*table_, charges, now.time_since_epoch().count()};
    if (question.find_places()) {
        a.emplace();
        a->taken_at = now;
        question.take(*a);
    }
    return a;
}

void memory_store::refund(std::span<const charge> charges, const answer& given, base::instant now)
{
    if (!given.admitted) {
        return;
    }
    // Had the tokens not been taken, refilling would have stopped at a full bucket meanwhile: at
    // most the time since then must not be given back, or the client could burst beyond `burst`.
    const std::int64_t elapsed = std::max<std::int64_t>((now - given.taken_at).count(), 0);
    const std::int64_t ticks = now.time_since_epoch().count();
    for (std::size_t i = 0; i < charges.size(); ++i) {
        if (!given.decisions()[i].allowed) {
            continue;
        }
        const base::hash128 name = base::siphash128(table_->key, charges[i].bucket_name);
        const limit::terms terms = charges[i].limit->in_nanoseconds();
        segment& s = table_->buckets.at(table_->buckets.segment_of(name));
        s.lock();
        if (slot* const found = s.find(name); found != nullptr) {
            const limit::bucket& b = found->bucket;
            const std::int64_t back = limit::refunded(terms, b, ticks, charges[i].cost) + elapsed;
            const std::int64_t full_at = std::min(limit::rescaled(b, terms, ticks), back);
            s.store(*found, {full_at, terms.interval});
        }
        s.unlock();
    }
}

void memory_store::sweep(base::instant now, std::size_t passes)
{
    const std::size_t all = table_->buckets.segments();
    const std::size_t part =
        (all + std::max<std::size_t>(passes, 1) - 1) / std::max<std::size_t>(passes, 1);
    table_->buckets.sweep(now.time_since_epoch().count(), part);
    table_->forget_shared(now.time_since_epoch().count());
}

std::size_t memory_store::size() const
{
    return table_->buckets.live();
}

std::uint64_t memory_store::turned_away() const
{
    return table_->turned_away.load(std::memory_order_relaxed);
}

std::size_t memory_store::bytes() const
{
    return sizeof(table) + table_->buckets.bytes();
}

}  // namespace gateway::store
