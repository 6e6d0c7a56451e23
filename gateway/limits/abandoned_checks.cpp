#include "gateway/limits/abandoned_checks.hpp"

namespace gateway::limits {

void abandoned_checks::keep(std::unique_ptr<limit_check> check, request of)
{
    limit_check& kept = *check;
    one& left = waiting_.emplace_back(*this, std::move(check), std::move(of));
    left.self = std::prev(waiting_.end());
    kept.tell(left);
}

void abandoned_checks::one::decided(const verdict& v)
{
    const bool waits =
        v.is == verdict::ruling::allowed && request_.route->holds && v.hold() > base::duration{0};
    reservation taken;
    taken.begin(request_.view, request_.is_grpc);
    check_->reserve(waits ? reserving::everything : reserving::permits, taken);
    taken.refund(in_.corrections_, in_.permit_leases_, nullptr);
    in_.checks_.take_back(std::move(check_));  // `v` lives in the check and ends here
    in_.over_.splice(in_.over_.end(), in_.waiting_, self);
}

}  // namespace gateway::limits
