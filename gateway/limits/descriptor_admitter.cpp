#include "gateway/limits/descriptor_admitter.hpp"

#include "gateway/intake/request_key.hpp"
#include "gateway/limits/verdict_notes.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace gateway::limits {

namespace {

using ruling = verdict::ruling;

constexpr std::uint32_t most_shown = std::numeric_limits<std::uint32_t>::max();

std::uint32_t shown(std::int64_t number)
{
    return static_cast<std::uint32_t>(std::clamp<std::int64_t>(number, 0, most_shown));
}

// Returns the unit that lasts as long, or `unknown` if there is none.
envoy::time_unit unit_of(base::duration length)
{
    using std::chrono::hours;
    constexpr std::array<std::pair<base::duration, envoy::time_unit>, 7> units{
        {{std::chrono::seconds{1}, envoy::time_unit::second},
         {std::chrono::minutes{1}, envoy::time_unit::minute},
         {hours{1}, envoy::time_unit::hour},
         {hours{24}, envoy::time_unit::day},
         {hours{24 * 7}, envoy::time_unit::week},
         {hours{24 * 30}, envoy::time_unit::month},
         {hours{24 * 365}, envoy::time_unit::year}}};
    const auto found = std::find_if(units.begin(), units.end(), [length](const auto& u) {
        return u.first == length;
    });
    return found == units.end() ? envoy::time_unit::unknown : found->second;
}

// Returns a limit as the X-RateLimit fields have it: the tokens that a bucket holds, in the time
// that it takes to fill.
envoy::current_limit limit_of(const http::limit_report& r)
{
    return {
        .name = r.name,
        .requests_per_unit = shown(r.limit->burst()),
        .unit = unit_of(r.limit->refill())};
}

descriptor_answer invalid(std::string_view detail)
{
    return {.status = http::grpc_status::invalid_argument, .detail = detail};
}

}  // namespace

std::optional<descriptor_answer> descriptor_admitter::admit(
    const policy::rate_limit_service& service, std::string_view message, verdict_listener& listener
)
{
    if (const std::string_view complaint = envoy::decode(message, request_); !complaint.empty()) {
        return invalid(complaint);
    }
    if (request_.domain.empty()) {
        return invalid("the domain must not be empty");
    }
    if (request_.descriptors.empty()) {
        return invalid("there must be a descriptor");
    }
    const auto& all = request_.descriptors;
    if (std::any_of(all.begin(), all.end(), [](const auto& d) { return d.refunds; })) {
        return invalid("hits cannot be refunded");
    }
    response_.begin(all.size());
    if (request_.domain != service.domain) {
        return encoded();
    }
    check_ = checks_.borrow();
    intake::named_charges& charges = check_->begin(*record_.view);
    switch (charges_.name(*record_.view->policy, service, request_, charges)) {
        case named::invalid:
            checks_.take_back(std::move(check_));
            return invalid(charges_.complaint());
        case named::refused:
            return conclude(check_->refuse(charges_.refused()));
        case named::named:
            break;
    }
    const verdict* const v = check_->decide(listener);
    if (v == nullptr) {
        record_.store_asked = clock_.now();
        return std::nullopt;
    }
    return conclude(*v);
}

descriptor_answer descriptor_admitter::conclude(const verdict& v)
{
    record_.decided = clock_.now();
    note_verdict(*check_, v, record_);
    const ruling is = v.is;
    record_.refused_for = refusal_reason_of(is);
    // The store would be charged after this object has forgotten the numbers of a descriptor.
    if (is == ruling::allowed && !charges_.overrides()) {
        check_->owe(record_.view, record_.reserved);
    }
    fill_statuses(v);
    if (record_.view->limit_headers.reset_as_epoch) {
        record_.reports_from = base::unix_time();
    }
    const auto wait = is == ruling::rejected ? retry_wait(v) : std::nullopt;
    record_.retry_after = wait.value_or(base::duration{0});
    fill_headers(wait);
    const intake::key_fault fault = v.fault;
    checks_.take_back(std::move(check_));  // `v` lives in the check and ends here
    switch (is) {
        case ruling::unavailable:
            return {
                .status = http::grpc_status::unavailable,
                .detail = "the rate limit cannot be checked at the moment"};
        case ruling::unidentified:
        case ruling::bad_cost:
            detail_ = described(fault);
            return {.status = http::grpc_status::invalid_argument, .detail = detail_};
        case ruling::allowed:
        case ruling::rejected:
        case ruling::blocked:
            break;
    }
    return encoded();
}

void descriptor_admitter::abandon()
{
    if (check_ != nullptr) {
        check_->abandon();
        checks_.take_back(std::move(check_));
    }
}

descriptor_answer descriptor_admitter::encoded()
{
    encoded_.clear();
    envoy::append(response_, encoded_);
    return {.message = encoded_};
}

// Fills in the status of each descriptor whose limits have decided. The charges of one descriptor
// follow each other in the verdict.
void descriptor_admitter::fill_statuses(const verdict& v)
{
    const bool over = v.is == ruling::rejected || v.is == ruling::blocked;
    response_.overall = over ? envoy::code::over_limit : envoy::code::ok;
    for (std::size_t d = 0; d < response_.statuses.size(); ++d) {
        response_.statuses[d].remaining = charges_.is_unlimited(d) ? most_shown : 0;
    }
    if (v.is == ruling::blocked) {
        response_.statuses[charges_.refused_descriptor()].code = envoy::code::over_limit;
        return;
    }
    reports_.clear();
    for (std::size_t i = 0; i < v.count; ++i) {
        const verdict::entry& e = v.entries[i];
        if (e.rule->enforced() && e.decided) {
            reports_.push_back({e.rule->name, e.limit, e.decision, e.cost});
        }
        const std::size_t d = charges_.descriptor_of(i);
        if (i + 1 == v.count || charges_.descriptor_of(i + 1) != d) {
            show_status(d);
            reports_.clear();
        }
    }
}

// Shows the tightest of the limits that have decided about a descriptor.
void descriptor_admitter::show_status(std::size_t descriptor)
{
    if (reports_.empty()) {
        return;
    }
    const http::limit_report& r = http::tightest(reports_);
    response_.statuses[descriptor] = {
        .code = r.decision.allowed ? envoy::code::ok : envoy::code::over_limit,
        .limit = limit_of(r),
        .remaining = shown(r.decision.remaining),
        .reset_seconds = http::seconds_up(r.decision.reset_after)};
}

// Adds the fields that a client of an HTTP listener would get.
void descriptor_admitter::fill_headers(std::optional<base::duration> retry_after)
{
    header_lines_.clear();
    http::append_limit_headers(record_.limit_statement(), header_lines_);
    if (retry_after) {
        http::text_writer to(header_lines_, http::retry_after_size);
        http::add_retry_after(*retry_after, to);
    }
    std::string_view rest = header_lines_;
    while (!rest.empty()) {
        const std::size_t end = rest.find("\r\n");
        const std::string_view line = rest.substr(0, end);
        const std::size_t colon = line.find(": ");
        response_.headers.push_back({line.substr(0, colon), line.substr(colon + 2)});
        rest.remove_prefix(end + 2);
    }
}

}  // namespace gateway::limits
