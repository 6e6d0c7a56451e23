// `gate` is a worker's part of the limits, with a clock that the test moves: it admits requests,
// and explains them as the admin API does.
#pragma once

#include "gateway/admin/explanation_json.hpp"
#include "gateway/base/text.hpp"
#include "gateway/client/requests/kept_request.hpp"
#include "gateway/http/input/request_parser.hpp"
#include "gateway/limits/admitter.hpp"
#include "gateway/limits/bucket_operations.hpp"
#include "gateway/limits/reports/explanation.hpp"
#include "gateway/limits/reservations/corrections.hpp"
#include "gateway/limits/reservations/permit_leases.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace gateway::admin::explained {

// `fate` is what becomes of a request.
struct fate {
    enum class end { passes, refused, rejected, banned };
    end how = end::passes;
    // "allowed", "over_limit LIMIT UPSTREAM", or status, limit, Retry-After and detail.
    std::string text{};

    bool operator==(const fate&) const = default;
};

class gate final : private limits::verdict_listener {
public:
    explicit gate(std::shared_ptr<policy::policy> p) : policy_(std::move(p))
    {
        clock_.set(base::now());
        auto v = std::make_shared<limits::policy_view>();
        v->policy = policy_;
        v->client_header = intake::client_header{policy_->client.header};
        v->tokens = std::make_unique<intake::token_cache>(policy_->token->good);
        v->claimed = std::make_unique<intake::claimed_limits>();
        v->no_route = &route_metrics_;
        v->routes.assign(policy_->routes.size(), &route_metrics_);
        v->limits.assign(policy_->limits.size(), &limit_metrics_);
        for (const policy::route& r : policy_->routes) {
            v->http_of_routes.push_back(
                std::make_unique<const http::options>(r.bounds.within(v->http))
            );
        }
        view_ = std::move(v);
    }

    void pass(base::duration time) { clock_.set(clock_.now() + time); }

    // Ends the oldest request in flight, if there is one.
    void end_one()
    {
        if (!in_flight_.empty()) {
            in_flight_.front().ended(corrections_, permit_leases_);
            in_flight_.pop_front();
        }
    }

    // Makes the request. Its content comes in two pieces, of which the first has `first` bytes.
    fate admit(const intake::hypothetical_request& r, std::size_t first)
    {
        const std::string bytes = head_of(r);
        http::request_head head;
        const http::parse_result parsed = http::parse_request_head(bytes, {}, head);
        if (parsed.is != http::parse_result::state::complete) {
            return {fate::end::refused, text_of(parsed.why.status, {}, {}, parsed.why.detail)};
        }
        const bool secure = r.url.starts_with("https://");
        admitter_.reset(view_, *base::ip_address::parse(r.peer), secure, nullptr);
        record_.by.content = intake::unread_content(*policy_, head);
        is_late_ = false;
        limits::admission a = decide(head);
        if (a.next == limits::admission::action::read) {
            a = decide_by_content(head, r.content, first);
        }
        if (record_.reserved.holds_permits()) {
            in_flight_.push_back(record_.reserved.part_with_permits());
        }
        return fate_of(a);
    }

    // Explains the request.
    fate explain(const intake::hypothetical_request& r)
    {
        std::string complaint;
        const limits::explanation e = limits::explain(policy_, view_->http, r, complaint);
        EXPECT_EQ(complaint, "");
        std::vector<limits::looked_at> looks;
        bool is_banned = false;
        for (const intake::named_charge& c : std::span{e.limits}.first(e.asked)) {
            if (c.is == intake::named_charge::state::charged) {
                looks.push_back(look_at(c));
                is_banned =
                    is_banned || (c.rule->enforced() && looks.back().banned_for.count() > 0);
            }
        }
        fate f = fate_in(as_json(e, looks).at("verdict").as_object());
        if (f.how == fate::end::rejected && is_banned) {
            f.how = fate::end::banned;
        }
        return f;
    }

private:
    std::shared_ptr<policy::policy> policy_;
    std::shared_ptr<const limits::policy_view> view_;
    telemetry::route_metrics route_metrics_;
    telemetry::limit_metrics limit_metrics_;
    store::memory_store local_{{.max_buckets = 4096}};
    base::turn_clock clock_;
    limits::top_buckets top_;
    limits::bucket_parts parts_;
    limits::check_pool checks_{local_, clock_, top_, parts_};
    limits::corrections corrections_{local_, clock_};
    limits::permit_leases permit_leases_{clock_};
    limits::abandoned_checks abandoned_{checks_, corrections_, permit_leases_};
    limits::bucket_operations buckets_{local_, clock_};
    limits::scratch memory_;
    client::ahead_memory ahead_;
    limits::request_record record_;
    limits::admitter admitter_{checks_, abandoned_, memory_, clock_, record_};
    std::deque<limits::reservation> in_flight_;
    // True if the content has turned out to be unclear after the decision.
    bool is_late_ = false;

    static std::string head_of(const intake::hypothetical_request& r)
    {
        std::string bytes = r.method + ' ' + r.url + " HTTP/1.1\r\n";
        bool has_type = false;
        for (const auto& [name, value] : r.headers) {
            bytes.append(name).append(": ").append(value).append("\r\n");
            has_type = has_type || name == "Content-Type";
        }
        if (!r.content.empty()) {
            bytes += "Content-Length: " + std::to_string(r.content.size()) + "\r\n";
            bytes += has_type ? "" : "Content-Type: application/json\r\n";
        }
        return bytes + "Host: localhost\r\n\r\n";
    }

    // Decides as client::request does: a route that answers does so once the request may go on.
    limits::admission decide(const http::request_head& head)
    {
        const limits::admission a = admitter_.admit(head, head, *this);
        const bool goes_on =
            a.next == limits::admission::action::forward && a.hold == base::duration{0};
        return goes_on && record_.is_answered() ? admitter_.answer() : a;
    }

    limits::admission decide_by_content(
        const http::request_head& head, std::string_view content, std::size_t first
    )
    {
        client::kept_request kept{
            head, policy_->request_paths, record_.http().max_inspected_body, ahead_};
        std::string_view rest = content.substr(std::min(first, content.size()));
        const std::string_view beginning = content.substr(0, content.size() - rest.size());
        if (kept.read(beginning, rest.empty(), {}) == client::content_reading::more) {
            kept.read(std::exchange(rest, {}), true, {});
        }
        record_.by.content = kept.values();
        const limits::admission a = decide(kept.ahead().head);
        if (a.next == limits::admission::action::respond) {
            return a;
        }
        const auto paths = intake::paths_that_count(*policy_, *record_.route);
        if (kept.read_rest(paths) && (rest.empty() || kept.read_on(rest, true, paths))) {
            return a;
        }
        is_late_ = true;
        return limits::content_unclear_later();
    }

    static std::string text_of(
        int status, std::string_view limit, base::duration retry, std::string_view detail
    )
    {
        const std::string after = retry.count() > 0 ? std::to_string(http::seconds_up(retry)) : "";
        return std::to_string(status) + " [" + std::string{limit} + "] " + after + ' ' +
               std::string{status < 400 ? "" : detail};
    }

    fate fate_of(const limits::admission& a) const
    {
        using end = fate::end;
        const std::string_view limit = is_late_ ? std::string_view{} : record_.deciding_limit;
        if (a.next == limits::admission::action::forward && a.over_limit.empty()) {
            return {end::passes, "allowed"};
        }
        if (a.next == limits::admission::action::forward) {
            return {end::rejected, "over_limit " + std::string{limit} + " spare"};
        }
        EXPECT_EQ(a.next, limits::admission::action::respond);
        if (a.stays_http) {
            return {end::passes, "allowed"};
        }
        const bool is_rejected = record_.refused_for == telemetry::refusal_reason::rejected;
        // Only a ban keeps a rejected request from the other upstream of its route.
        const bool is_banned =
            is_rejected && (a.detail.starts_with("banned") || record_.route->serves_over_limit());
        const end how = !is_rejected ? end::refused : is_banned ? end::banned : end::rejected;
        return {how, text_of(a.status, limit, a.retry_after, a.detail)};
    }

    limits::looked_at look_at(const intake::named_charge& c)
    {
        limits::looked_at seen;
        limits::bucket_operation look{
            .policy = policy_,
            .limit = c.index,
            .numbers = c.limit,
            .bucket_name = std::string{c.name.bytes()},
            .tokens = c.cost,
            .max_wait = c.rule->max_wait};
        buckets_.ask(*view_, std::move(look), [&seen](const limits::bucket_result& found) {
            EXPECT_EQ(found.failed, "");
            seen = {.decision = found.decision, .banned_for = found.banned_for};
        });
        return seen;
    }

    static fate fate_in(const boost::json::object& verdict)
    {
        using end = fate::end;
        const std::string says = text_at(verdict, "says");
        const std::string limit = text_at(verdict, "limit");
        if (says == "allowed") {
            return {end::passes, says};
        }
        if (says == "over_limit") {
            return {end::rejected, says + ' ' + limit + ' ' + text_at(verdict, "upstream")};
        }
        const boost::json::value* const retry = verdict.if_contains("retry_after");
        const std::chrono::seconds after{retry == nullptr ? 0 : retry->to_number<int>()};
        const std::string detail = text_at(verdict, "detail");
        const bool is_rejected = detail.starts_with("the limit is exhausted") ||
                                 detail.starts_with("the request costs more than") ||
                                 detail.starts_with("banned");
        const int status = verdict.at("status").to_number<int>();
        return {is_rejected ? end::rejected : end::refused, text_of(status, limit, after, detail)};
    }

    static std::string text_at(const boost::json::object& in, const char* name)
    {
        const boost::json::value* const found = in.if_contains(name);
        return found == nullptr ? "" : std::string{found->as_string()};
    }

    void decided(const limits::verdict&) override { ADD_FAILURE() << "nothing is shared"; }
};

}  // namespace gateway::admin::explained
