#include "gateway/limits/reservations/permit_leases.hpp"

#include "gateway/limits/reservations/reservation.hpp"

#include <random>

namespace gateway::limits {

std::int64_t fresh_permit()
{
    thread_local std::mt19937_64 random{std::random_device{}()};
    return static_cast<std::int64_t>(random() >> 11);
}

namespace {

// Pause after which a store that could not be asked is asked again.
constexpr base::duration again_after = std::chrono::milliseconds{100};

}  // namespace

// One permit, and the question that renews it in its store.
class permit_leases::lease final : private store::question {
public:
    lease(std::shared_ptr<const policy_view> view, const reserved& r, base::instant now)
        : view_(std::move(view)),
          store_(*r.shared),
          bucket_name_(r.bucket_name),
          due_(now + every(*r.limit)),
          charge_(charge_of(r, bucket_name_))
    {
        charge_.may_be_corrected = true;
        charge_.correction = &renewal_;
    }

    void renew(base::instant now)
    {
        if (now < due_ || asked()) {
            return;
        }
        due_ = now + every(*charge_.limit);
        asked_at_ = now;
        if (store_.ask({&charge_, 1}, *this)) {
            due_ = now + again_after;
        }
    }

private:
    static base::duration every(const limit::limit& l) { return l.lease() / 3; }

    // Keeps the policy and the store alive.
    std::shared_ptr<const policy_view> view_;
    store::shared_store& store_;
    std::string bucket_name_;
    base::instant due_;
    base::instant asked_at_{};
    const limit::correction renewal_{.what = limit::correction::kind::renew};
    store::charge charge_;

    // A permit that is lost stays lost, and its request goes on.
    void answered(const store::answer&) override {}

    void failed(store::failure, store::taken) override { due_ = asked_at_ + again_after; }
};

permit_leases::permit_leases(const base::turn_clock& c) : clock_(c) {}

permit_leases::~permit_leases() = default;

permit_leases::handle permit_leases::keep(
    const std::shared_ptr<const policy_view>& view, const reserved& r
)
{
    return all_.emplace(all_.end(), view, r, clock_.now());
}

void permit_leases::end(handle of)
{
    all_.erase(of);
}

void permit_leases::renew()
{
    for (lease& l : all_) {
        l.renew(clock_.now());
    }
}

}  // namespace gateway::limits
