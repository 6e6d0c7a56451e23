// A bucket in a shared store of which tokens are leased: at most two leases, of which one is being
// spent while the next is on its way, and the questions that ask for them and give back what is
// left. Pure: it asks through a port, and time is an argument. One thread.
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

// What leases do through the conversation with their store.
class lease_port {
public:
    // See shared_store::ask().
    virtual std::optional<failure> ask_for_lease(
        std::span<const charge> charges, question& q, base::instant now
    ) = 0;
    // Has what is over then given back.
    virtual void wake_for_lease(base::instant at) = 0;

protected:
    ~lease_port() = default;
};

class leased_bucket {
public:
    // Of a lease's time, in one of which demand is counted.
    static constexpr std::int64_t periods = 32;

    // Of the bucket that `c` is charged to. `port` must outlive it.
    leased_bucket(const charge& c, lease_port& port);

    // Whether it is charged under the numbers that its leases were taken under.
    bool follows(const charge& c) const;

    // Tokens that may be spent. All times here are in microseconds; see leased_tokens.
    std::int64_t usable(std::int64_t now) const;

    // Takes what `c` costs, of that which may be spent. What it says is what the store said last,
    // with what is left of the leases.
    limit::decision spend(const charge& c, std::int64_t now);

    // The store has said, asked then, when the bucket will be full.
    void heard(std::int64_t asked, std::int64_t full_at);

    // When it was asked last; see last_answer.
    std::int64_t asked_at() const { return asked_at_; }

    // Asks for another lease if it is time to. `demand`: tokens asked of it in a period, each time
    // `cost`.
    void consider(
        const limit::token_lease& rule, std::int64_t cost, std::int64_t demand, base::instant now
    );

    // Nothing that was taken counts any more, nor is given back.
    void forget();

    // Gives back what is left of leases that are over, or of all; `grant_mark`: the mark of the
    // last grant that they were taken under, see store/remote/last_answer.hpp.
    enum class giving : bool { what_is_over, all };
    void give_back(giving which, std::int64_t grant_mark, base::instant now);

    // When the first of its leases is over at the latest.
    base::instant next_end() const;

    // Of the leases it has, none is on its way to the store or back.
    bool is_at_rest() const;

    // Has no leases.
    bool is_idle() const;

    // Nor is there anything else to be known of it.
    bool may_be_forgotten(base::instant now) const { return is_idle() && now >= rests_until_; }

private:
    class lease final : private question {
    public:
        enum class state : std::uint8_t { free, asking, held, giving_back };

        explicit lease(leased_bucket& of) : of_(of) {}

        state is = state::free;
        // While it is held.
        leased_tokens tokens;

        std::int64_t usable(std::int64_t now) const
        {
            return is == state::held ? tokens.usable(now) : 0;
        }

        void take(std::int64_t count, base::duration time, base::instant now);
        void give_back(std::int64_t grant_mark, base::instant now);

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
    // Its own: the policy may be gone before the lease.
    limit::limit limit_;
    // When the bucket is full, by the store's last word.
    std::int64_t full_at_ = 0;
    std::int64_t asked_at_ = 0;
    // Tokens of the lease that was taken last.
    std::int64_t last_ = 0;
    // Until then none is asked for: the store may have given one, and not been able to say so.
    base::instant rests_until_{};
    std::array<lease, 2> leases_;

    limit::pace pace() const { return limit_.pace_in_microseconds(); }

    // Converts ticks of debt into the units in which the store counts debts.
    std::int64_t units_in(std::int64_t ticks) const
    {
        const bool by_time = limit_.in_microseconds().how == limit::supply_kind::token_bucket;
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
