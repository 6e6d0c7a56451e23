// What tests of a limit_check share: a local store, a shared one that does as it is told, and
// limits in both.
#pragma once

#include "gateway/limits/checks/check_request.hpp"
#include "gateway/limits/reservations/corrections.hpp"
#include "gateway/limits/reservations/permit_leases.hpp"
#include "gateway/store/remote/call.hpp"

#include <gmock/gmock.h>

namespace gateway::limits::testing {

class fake_store final : public store::shared_store {
public:
    std::optional<store::failure> refuses;
    std::vector<std::string> asked;  // names of limits, of the last question
    std::string bucket;              // of its last charge
    std::int64_t burst = 0;          // of its limit
    std::optional<store::answer> recalled;
    std::optional<store::answer> leased;
    const limit::token_lease* lease = nullptr;  // of the last charge that was to be leased
    int questions = 0;
    std::int64_t remaining = 7;

    bool recalls(std::span<const store::charge>, base::instant, store::answer& into) const override
    {
        if (recalled) {
            into = *recalled;
        }
        return recalled.has_value();
    }

    bool take_leased(std::span<const store::charge> charges, store::answer& into) override
    {
        lease = charges.back().lease;
        if (leased) {
            into = *leased;
        }
        return leased.has_value();
    }

    std::optional<store::failure> ask(std::span<const store::charge> charges, store::question& q)
        override
    {
        ++questions;
        asked.clear();
        for (const store::charge& c : charges) {
            asked.emplace_back(c.limit_name);
            bucket = c.bucket_name.bytes();
            burst = c.limit->burst();
        }
        if (!refuses) {
            place_.hold(q);
        }
        return refuses;
    }

    void answer(
        const std::vector<bool>& allowed,
        bool admitted,
        base::duration retry = std::chrono::seconds{3}
    )
    {
        store::answer a;
        for (const bool ok : allowed) {
            a.add(
                {.allowed = ok,
                 .remaining = ok ? remaining : 0,
                 .retry_after = ok ? base::duration{0} : retry}
            );
        }
        a.admitted = admitted;
        if (auto* const q = place_.release()) {
            q->answered(a);
        }
    }

    void fail(store::taken tokens = store::taken::perhaps)
    {
        if (auto* const q = place_.release()) {
            q->failed(store::failure::timeout, tokens);
        }
    }

    void close() override {}

    void retire() override {}

    bool healthy() const override { return true; }

private:
    store::pending_question place_;
};

class limits : public ::testing::Test, private verdict_listener {
protected:
    static constexpr std::size_t elsewhere = 0;

    store::memory_store local{{.max_buckets = 1024}};
    std::shared_ptr<fake_store> shared = std::make_shared<fake_store>();
    int heard = 0;

    policy::limit_rule& add(const std::string& name, std::size_t home, std::int64_t burst)
    {
        rules_.push_back({
            .name = name,
            .key = {{}},
            .limit = *limit::limit::make(1, std::chrono::hours{1}, burst),
            .store = home,
        });
        return rules_.back();
    }

    const verdict& ask()
    {
        prepare();
        const verdict* const v = check_request(check_, view_, route_, subject_, *this).verdict;
        pending_ = v == nullptr;
        said_ = v;
        return v == nullptr ? nothing_yet_ : *v;
    }

    bool pending() const { return pending_; }

    const verdict& said() const { return *said_; }

    std::size_t reports() const
    {
        std::vector<http::limit_report> all;
        said().reports(all);
        return all.size();
    }

    std::string shadow_rejections() const
    {
        std::string names;
        said().append_shadow_rejections(names);
        return names;
    }

    std::string bucket_of(std::size_t entry) const
    {
        return std::string(check_.bucket_name(entry));
    }

    void abandon() { check_.abandon(); }

    // The last request's response came, and makes one correction.
    void respond(int status)
    {
        reservation taken = reserved(false);
        taken.responded({.status = status}, nullptr, *corrections_, nullptr);
    }

    // What was taken for the last request.
    reservation reserved(bool is_grpc)
    {
        corrections_.emplace(local, loop_.clock());
        reservation taken;
        taken.begin({std::shared_ptr<const policy_view>{}, &view_}, is_grpc);
        check_.reserve(reserving::outcomes, taken);
        return taken;
    }

    corrections& corrector() { return *corrections_; }

    // The last request is over: its places are given back.
    void end_request()
    {
        corrections_.emplace(local, loop_.clock());
        permit_leases held{loop_.clock()};
        reservation taken;
        taken.begin({std::shared_ptr<const policy_view>{}, &view_});
        check_.reserve(reserving::permits, taken);
        taken.ended(*corrections_, held);
    }

    // The counts of all buckets, as the admin API tells them.
    std::uint64_t top_rejections() const { return top_.by_rejections.total(); }

    std::uint64_t count(std::size_t rule, telemetry::outcome o) const
    {
        return metrics_[rule].decisions[static_cast<std::size_t>(o)].value();
    }

    std::uint64_t count(std::size_t rule) const
    {
        std::uint64_t all = 0;
        for (const auto& c : metrics_[rule].decisions) {
            all += c.value();
        }
        return all;
    }

    // How many tokens of a local limit's bucket are left, by taking them all.
    int left(std::size_t only)
    {
        only_ = only;
        int n = 0;
        while (ask().is == verdict::ruling::allowed) {
            ++n;
        }
        return n;
    }

    // What the bucket of this limit is called if it is asked for alone.
    std::string bucket_alone(std::size_t only)
    {
        only_ = only;
        ask();
        only_.reset();
        return said().count == 0 ? "none" : bucket_of(0);
    }

    void use_table_without_room()
    {
        small_.emplace(store::memory_options{
            .max_buckets = 1, .on_full = store::memory_options::when_full::reject});
        const auto one = *limit::limit::make(1, std::chrono::hours{1}, 1);
        store::answer ignored;
        bool room = true;
        for (int i = 0; room; ++i) {
            const std::string name = std::to_string(i);
            const store::charge c{
                .limit_name = "x", .bucket_name = base::hashed_name{name}, .limit = &one};
            room = small_->take({&c, 1}, loop_.now(), ignored);
        }
        check_of_small_.emplace(*small_, loop_.clock(), top_, parts_);
    }

    const verdict& ask_without_room()
    {
        prepare();
        const verdict* const v =
            check_request(*check_of_small_, view_, route_, subject_, *this).verdict;
        EXPECT_NE(v, nullptr);
        return *v;
    }

private:
    const verdict* said_ = nullptr;
    const verdict nothing_yet_{};
    net::loop loop_;
    std::vector<policy::limit_rule> rules_;
    std::array<telemetry::limit_metrics, policy::max_limits_per_route> metrics_;
    // Policy of each request so far: a reservation may outlive the request after its own.
    std::vector<std::shared_ptr<policy::policy>> policies_;
    policy_view view_;
    policy::route route_;
    std::optional<std::size_t> only_;  // of the limits
    http::request_head head_;
    intake::key_subject subject_;
    bool pending_ = false;
    top_buckets top_;
    bucket_parts parts_;
    std::optional<corrections> corrections_;
    limit_check check_{local, loop_.clock(), top_, parts_};
    std::optional<store::memory_store> small_;
    std::optional<limit_check> check_of_small_;

    void prepare()
    {
        const auto policy = std::make_shared<policy::policy>();
        policy->limits = rules_;
        policy->finish();
        policies_.push_back(policy);
        view_.policy = policy;
        view_.stores = {shared};
        view_.limits.clear();
        route_.limits.clear();
        for (std::size_t i = 0; i < rules_.size(); ++i) {
            view_.limits.push_back(&metrics_[i]);
            if (!only_ || *only_ == i) {
                route_.limits.push_back(i);
            }
        }
        subject_ = {
            .head = &head_,
            .client = base::ip_address::v4(0x01020304),
            .host = "h",
            .path = "/",
            .route = "r"};
    }

    void decided(const verdict& v) override
    {
        said_ = &v;
        ++heard;
    }
};

}  // namespace gateway::limits::testing
