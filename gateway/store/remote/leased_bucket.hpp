// `leased_bucket` is a bucket in a shared store of which a worker holds leases: at most two, so
// that one is spent while the next is on its way. It asks for them, and gives back what is left.
// Pure: it asks through a port, and time is an argument.
// Thread: one.
#pragma once

#include "gateway/base/clock.hpp"
#include "gateway/limit/correction.hpp"
#include "gateway/limit/limit.hpp"
#include "gateway/limit/token_lease.hpp"
#include "gateway/store/remote/leased_tokens.hpp"
#include "gateway/store/store.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace gateway::store {

// `lease_port` is what leases need of the conversation with their store.
class lease_port {
public:
    // See shared_store::ask().
    virtual std::optional<failure> ask_for_lease(
        std::span<const charge> charges, question& q, base::instant now
    ) = 0;
    // Plans a wake-up at that time, to give back what is left of leases that are then over.
    virtual void wake_for_lease(base::instant at) = 0;

protected:
    ~lease_port() = default;
};

class leased_bucket {
public:
    // Number of periods in a lease's time. Demand is counted per period.
    static constexpr std::int64_t periods = 32;

    // Makes the bucket that `c` is charged to, without leases.
    // Ownership: `port` outlives this object.
    leased_bucket(const charge& c, lease_port& port);

    // True if `c` has the limit's numbers under which the leases were taken.
    bool follows(const charge& c) const;

    // Returns the tokens that may be spent; see leased_tokens.
    // Units: microseconds, for all times here that are numbers.
    std::int64_t usable(std::int64_t now) const;

    // Spends the cost of `c`. The decision is the store's last one, with what is left of the
    // leases.
    // Requires: usable() is at least the cost.
    limit::decision spend(const charge& c, std::int64_t now);

    // Notes when the bucket will be full, as the store reported in answer to a question of time
    // `asked`.
    void heard(std::int64_t asked, std::int64_t full_at);

    // Returns the time of the last question; see last_answer.
    std::int64_t asked_at() const { return asked_at_; }

    // Asks for another lease if it is time to. `demand` is the number of tokens asked of the bucket
    // in a period, `cost` at a time.
    void consider(
        const limit::token_lease& rule, std::int64_t cost, std::int64_t demand, base::instant now
    );

    // Drops all leases that are held. Their tokens are neither spent nor given back.
    void forget();

    // Gives back what is left of leases that are over, or of all. `grant_epoch` is the grant epoch
    // under which they were taken, see store/remote/last_answer.hpp.
    enum class giving : bool { what_is_over, all };
    void refund(giving which, std::int64_t grant_epoch, base::instant now);

    // Returns the time by which the first of its leases is over.
    base::instant next_end() const;

    // True if no lease is on its way from the store or back.
    bool is_at_rest() const;

    // True if it has no leases.
    bool is_idle() const;

    // True if it has no leases, and may ask for one again.
    bool may_be_forgotten(base::instant now) const { return is_idle() && now >= rests_until_; }

private:
    class lease final : private question {
    public:
        enum class state : std::uint8_t { free, asking, held, giving_back };

        explicit lease(leased_bucket& of) : of_(of) {}

        state is = state::free;
        // Tokens of the lease, while it is held.
        leased_tokens tokens;

        std::int64_t usable(std::int64_t now) const
        {
            return is == state::held ? tokens.usable(now) : 0;
        }

        void take(std::int64_t count, base::duration time, base::instant now);
        void refund(std::int64_t grant_epoch, base::instant now);

    private:
        leased_bucket& of_;
        charge charge_;
        limit::correction correction_{};
        std::string receipt_;
        base::instant asked_at_{};
        base::duration time_{0};

        bool is_missed(std::int64_t count, std::int64_t now) const;
        void ask(base::instant now);
        void answered(const answer& a) override;
        void failed(failure why, taken tokens) override;
    };

    lease_port& port_;
    std::string limit_name_;
    std::string name_;
    base::hash128 id_;
    // Copy of the limit, as the policy may end before the lease.
    limit::limit limit_;
    // Time when the bucket is full, as the store reported last.
    std::int64_t full_at_ = 0;
    std::int64_t asked_at_ = 0;
    // Number of tokens in the lease that was taken last.
    std::int64_t last_ = 0;
    // Time until which no lease is asked for, after a failure. The store may have given one all the
    // same.
    base::instant rests_until_{};
    std::array<lease, 2> leases_;

    limit::pace pace() const { return limit_.pace_in_microseconds(); }

    // Converts ticks of debt into the units in which the store counts debts.
    std::int64_t units_in(std::int64_t ticks) const
    {
        const bool by_time = limit_.in_microseconds().is_by_time();
        return by_time ? ticks : pace().tokens_in(ticks);
    }

    std::int64_t most(const limit::token_lease& rule) const;
    std::int64_t worth(
        const limit::token_lease& rule, std::int64_t cost, std::int64_t demand, std::int64_t now
    ) const;
    std::array<lease*, 2> oldest_first();
    lease* free_lease(std::int64_t now);
};

}  // namespace gateway::store
