// A rate-limit service with limits in a local and in a shared store, which tests ask as Envoy does.
#pragma once

#include "gateway/limits/descriptor_admitter.hpp"
#include "tests/unit/envoy/answers.hpp"
#include "tests/unit/envoy/messages.hpp"
#include "tests/unit/limits/limit_check_fixture.hpp"

namespace gateway::limits::testing {

using envoy::code;
using envoy::time_unit;
using envoy::testing::entry;
using envoy::testing::number;
using envoy::testing::read_answer;
using envoy::testing::text;
using http::grpc_status;

class descriptors : public ::testing::Test, private verdict_listener {
protected:
    static constexpr std::size_t elsewhere = 0;

    base::turn_clock clock;
    policy::policy rules;
    std::shared_ptr<fake_store> shared = std::make_shared<fake_store>();
    request_record record;
    std::string detail;  // of the last error
    bool pending = false;

    descriptors()
    {
        clock.set(base::instant{std::chrono::hours{1000}});
        rules.services.push_back({.name = "edge", .domain = "edge", .descriptors = {}});
    }

    // A limit for descriptors whose only entry has this key, which is its own key.
    policy::limit_rule& add(
        const std::string& key, std::int64_t burst, std::size_t home = policy::local_store
    )
    {
        rules.services[0].descriptors.push_back(
            {.match = {{.key = key}}, .limits = {rules.limits.size()}}
        );
        rules.limits.push_back({
            .name = key,
            .key = {part(key)},
            .limit = *limit::limit::make(burst, std::chrono::minutes{burst}, burst),
            .store = home,
        });
        return rules.limits.back();
    }

    static policy::key_part part(const std::string& key)
    {
        return {
            .from = policy::key_part::source::descriptor, .name = key, .text = "descriptor:" + key};
    }

    static std::string descriptor(
        std::string_view key, std::string_view value, std::string_view more = {}
    )
    {
        return text(2, entry(key, value).append(more));
    }

    // The answer to these descriptors in the domain of the service.
    read_answer ask(const std::string& all) { return ask_message(text(1, "edge") + all); }

    read_answer ask_message(const std::string& message)
    {
        const grpc_status status = send(message);
        EXPECT_EQ(status, grpc_status::ok) << detail;
        return envoy::testing::answer_in(answered_);
    }

    // Asks, and returns the status of the call. `pending`, if there is no answer yet.
    grpc_status send(const std::string& message)
    {
        begin();
        message_ = message;
        const auto a = admitter_.admit(view_->policy->services[0], message_, *this);
        pending = !a;
        return a ? keep(*a) : grpc_status::ok;
    }

    // What was answered when the shared store had answered or failed.
    read_answer answered() const { return envoy::testing::answer_in(answered_); }

    grpc_status status() const { return status_; }

    void abandon() { admitter_.abandon(); }

    std::uint64_t count(std::size_t rule, telemetry::outcome o) const
    {
        return metrics_[rule].decisions[static_cast<std::size_t>(o)].value();
    }

private:
    store::memory_store local_{{.max_buckets = 4096}};
    top_buckets top_;
    bucket_parts parts_;
    check_pool checks_{local_, clock, top_, parts_};
    descriptor_admitter admitter_{checks_, clock, record};
    std::array<telemetry::limit_metrics, 32> metrics_;
    telemetry::route_metrics route_;
    std::shared_ptr<policy_view> view_;
    std::string message_;
    std::string answered_;
    grpc_status status_ = grpc_status::ok;

    void begin()
    {
        if (view_ == nullptr) {
            view_ = std::make_shared<policy_view>();
            rules.finish();
            view_->policy = std::make_shared<const policy::policy>(rules);
            view_->stores = {shared};
            view_->no_route = &route_;
            for (std::size_t i = 0; i < rules.limits.size(); ++i) {
                view_->limits.push_back(&metrics_[i]);
            }
        }
        record.arrive(view_, base::ip_address::v4(0x7f000001), false, nullptr, clock.now());
        record.route = &view_->policy->services[0].as_route;
    }

    grpc_status keep(const descriptor_answer& a)
    {
        status_ = a.status;
        detail = a.detail;
        answered_ = a.message;
        return a.status;
    }

    void decided(const verdict& v) override
    {
        pending = false;
        keep(admitter_.conclude(v));
    }
};

}  // namespace gateway::limits::testing
