#include "gateway/limits/checks/abandoned_checks.hpp"

#include "gateway/http/grpc/grpc_status.hpp"

namespace gateway::limits {

void abandoned_checks::keep(std::unique_ptr<limit_check> check, request of)
{
    limit_check& kept = *check;
    abandoned_check& left = waiting_.emplace_back(*this, std::move(check), std::move(of));
    left.self = std::prev(waiting_.end());
    kept.report_to(left);
}

void abandoned_checks::abandoned_check::decided(const verdict& v)
{
    const bool waits =
        v.is == verdict::ruling::allowed && request_.route->holds && v.hold() > base::duration{0};
    reservation taken;
    taken.begin(request_.view, request_.is_grpc);
    check_->reserve(waits ? reserving::everything : reserving::outcomes, taken);
    if (waits) {
        taken.refund(owner_.corrections_, owner_.permit_leases_, nullptr);
    } else if (!taken.empty()) {
        const policy::response_end end{.request_bytes = request_.bytes, .given_up = true};
        const policy::response_result nothing{.grpc = http::implied_grpc_status(0), .end = &end};
        taken.responded(nothing, nullptr, owner_.corrections_, nullptr);
        taken.ended(owner_.corrections_, owner_.permit_leases_);
    }
    owner_.checks_.take_back(std::move(check_));  // `v` lives in the check and ends here
    owner_.over_.splice(owner_.over_.end(), owner_.waiting_, self);
}

}  // namespace gateway::limits
