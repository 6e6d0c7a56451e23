#include "gateway/limits/admitter.hpp"

#include "gateway/base/text.hpp"
#include "gateway/http/input/request_parser.hpp"
#include "gateway/limits/reservations/corrections.hpp"
#include "gateway/limits/reservations/permit_leases.hpp"
#include "gateway/store/remote/call.hpp"

#include <gmock/gmock.h>

#include <deque>

namespace gateway::limits {
namespace admitter_test {

using next = admission::action;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A store that answers when the test does.
class late_store final : public store::shared_store {
public:
    bool recalls(std::span<const store::charge>, base::instant, store::answer&) const override
    {
        return false;
    }

    std::optional<store::failure> ask(std::span<const store::charge>, store::question& q) override
    {
        place_.hold(q);
        return std::nullopt;
    }

    bool is_asked() const { return place_.asker != nullptr; }

    void answer(bool allowed)
    {
        store::answer a;
        a.add({.allowed = allowed, .remaining = 7, .retry_after = std::chrono::seconds{3}});
        a.admitted = allowed;
        place_.release()->answered(a);
    }

    void close() override {}

    void retire() override {}

    bool healthy() const override { return true; }

private:
    store::pending_question place_;
};

class admissions : public ::testing::Test, private verdict_listener {
protected:
    const base::ip_address peer = base::ip_address::v4(0x0a000001);
    std::shared_ptr<late_store> shared = std::make_shared<late_store>();
    store::memory_store local{{.max_buckets = 1024}};
    net::loop loop;
    top_buckets top;
    bucket_parts parts;
    check_pool checks{local, loop.clock(), top, parts};
    corrections corrected{local, loop.clock()};
    permit_leases leases{loop.clock()};
    abandoned_checks abandoned{checks, corrected, leases};
    scratch memory;
    request_record record;
    admitter a{checks, abandoned, memory, loop.clock(), record};
    bool secure = false;
    std::optional<admission> concluded;  // of one that was pending

    admissions()
    {
        policy_->limits = {
            {.name = "few", .key = {{}}, .limit = *limit::limit::make(1, std::chrono::hours{1}, 2)},
            {.name = "far",
             .key = {{}},
             .limit = *limit::limit::make(1, std::chrono::hours{1}, 9),
             .store = 1},
            {.name = "by_key",
             .key = {{policy::key_part::source::header, "x-key", 0, "header:x-key"}},
             .limit = *limit::limit::make(1, std::chrono::hours{1}, 1)},
            {.name = "patient",
             .key = {{}},
             .limit = *limit::limit::make(1, std::chrono::hours{1}, 9),
             .store = 1,
             .max_wait = std::chrono::seconds{10}},
        };
        policy_->routes = {
            route("free", "/free", {}),
            route("limited", "/limited", {0}),
            route("shared", "/shared", {1}),
            route("keyed", "/keyed", {2}),
            route("large", "/large", {}),
            route("patient", "/patient", {3}),
            route("moved", "/moved", {0}),
        };
        policy_->routes[4].bounds.max_body_bytes = 12;
        policy::route& moved = policy_->routes.back();
        moved.upstream = policy::no_upstream;
        moved.shape.answer.emplace().to.emplace("https://{host}:1{uri}");
        moved.shape.answer->response.status = 301;
        moved.shape.prefix = {.from = "/moved", .to = "", .to_and_slash = "/"};
        policy_->finish();
        policy_->client.trusted_proxies =
            base::ip_prefix_set{{*base::ip_prefix::parse("10.0.0.0/8")}};
    }

    ~admissions() override
    {
        a.abandon(0);
        pool_->close();
    }

    void identify_by(const std::string& header) { policy_->client.header = header; }

    admission ask(
        const std::string& path, const std::string& lines = {}, const std::string& method = "GET"
    )
    {
        const std::string& bytes =
            bytes_.emplace_back(method + " " + path + " HTTP/1.1\r\nHost: h\r\n" + lines + "\r\n");
        EXPECT_EQ(
            http::parse_request_head(bytes, {}, head_).is, http::parse_result::state::complete
        );
        a.reset(view(), peer, secure, nullptr);
        return a.admit(head_, head_, *this);
    }

    http::forward_options forwarding() const { return a.forwarding(head_, record.over_limit); }

    std::string limit_lines() const
    {
        std::string out;
        http::append_limit_headers(record.limit_statement(), out);
        return out;
    }

    const telemetry::route_metrics* metrics_of(std::size_t index) const
    {
        return &route_metrics_[index];
    }

    const telemetry::route_metrics* metrics_of_none() const { return &none_; }

    // Has the limit `far` settle by a number in the response.
    void settle_far(bool refunds_missing)
    {
        policy::outcome_rule& outcome = policy_->limits[1].outcome;
        outcome.usage = {{.places = {{.path = "a"}}}};
        outcome.refunds_missing = refunds_missing;
        policy_->finish();
    }

    std::uint64_t missing_settlements_of_far() const
    {
        return limit_metrics_[1].missing_settlements.value();
    }

private:
    std::shared_ptr<policy::policy> policy_ = std::make_shared<policy::policy>();
    std::array<telemetry::route_metrics, 7> route_metrics_;
    telemetry::route_metrics none_;
    std::array<telemetry::limit_metrics, 4> limit_metrics_;
    telemetry::upstream_metrics upstream_;
    telemetry::worker_metrics worker_;
    telemetry::server_metrics server_;
    std::shared_ptr<proxy::pool> pool_ = std::make_shared<proxy::pool>(
        loop,
        proxy::upstream_options{
            .name = "u",
            .servers = {{.address = {.host = "127.0.0.1", .port = "1", .socket_path = {}}}}},
        std::make_shared<proxy::upstream_status>(),
        static_cast<unsigned short>(0),
        proxy::pool_metrics{upstream_, worker_, {&server_}}
    );
    std::deque<std::string> bytes_;  // of the heads
    http::request_head head_;

    static policy::route route(
        const std::string& name, const std::string& path, std::vector<std::size_t> limits
    )
    {
        return {
            .name = name,
            .match = {.host = {}, .path = path, .exact = false, .methods = {}},
            .limits = std::move(limits),
            .upstream = 0};
    }

    std::shared_ptr<const policy_view> view()
    {
        auto v = std::make_shared<policy_view>();
        v->policy = policy_;
        v->http.max_body_bytes = 10;
        v->http_of_routes.resize(policy_->routes.size());
        v->http_of_routes[4] =
            std::make_unique<const http::options>(http::options{.max_body_bytes = 12});
        v->limit_headers.x_ratelimit = true;
        v->client_header = intake::client_header{policy_->client.header};
        for (auto& m : route_metrics_) {
            v->routes.push_back(&m);
        }
        v->no_route = &none_;
        for (auto& m : limit_metrics_) {
            v->limits.push_back(&m);
        }
        v->pools = {pool_};
        v->stores = {nullptr, shared};
        return v;
    }

    void decided(const verdict& v) override { concluded = a.conclude(v); }
};

TEST_F(admissions, without_a_route_or_a_good_path_are_refused_and_counted_as_none)
{
    EXPECT_EQ(ask("/elsewhere").status, 404);
    EXPECT_EQ(record.route, nullptr);
    EXPECT_EQ(record.metrics, metrics_of_none());
    for (const auto& [path, why] :
         {std::pair{"/free/%zz", "malformed percent-encoding"},
          std::pair{"/free/../x", ".. segment"}}) {
        const admission refused = ask(path);
        EXPECT_EQ(refused.next, next::respond);
        EXPECT_EQ(refused.status, 400);
        EXPECT_THAT(refused.detail, HasSubstr(why));
        EXPECT_EQ(record.metrics, metrics_of_none());
    }
    ask("/nowhere", "X-Forwarded-For: 192.0.2.1\r\n");
    EXPECT_EQ(record.client, base::ip_address::v4(0xc0000201)) << "for the log";
}

TEST_F(admissions, of_a_route_without_limits_go_on_and_carry_no_lines)
{
    const admission free = ask("//free/./x");
    EXPECT_EQ(free.next, next::forward);
    EXPECT_EQ(forwarding().peer, "10.0.0.1");
    EXPECT_EQ(forwarding().default_host, "127.0.0.1:1");
    EXPECT_EQ(record.route->name, "free");
    EXPECT_EQ(record.metrics, metrics_of(0));
    EXPECT_EQ(limit_lines(), "");
    EXPECT_EQ(record.outcome, "");
}

TEST_F(admissions, of_a_limited_route_say_what_is_left_until_they_are_refused)
{
    for (const char* left : {"1", "0"}) {
        EXPECT_EQ(ask("/limited").next, next::forward);
        EXPECT_THAT(limit_lines(), HasSubstr("X-RateLimit-Remaining: " + std::string(left)));
        EXPECT_EQ(record.outcome, "allowed");
    }
    const admission refused = ask("/limited");
    EXPECT_EQ(refused.next, next::respond);
    EXPECT_EQ(refused.status, 429);
    EXPECT_EQ(http::seconds_up(refused.retry_after), 3600);
    ASSERT_EQ(record.limit_statement().reports.size(), 1U);
    EXPECT_EQ(record.limit_statement().reports[0].name, "few");
    EXPECT_FALSE(record.limit_statement().reports[0].decision.allowed);
    EXPECT_THAT(limit_lines(), HasSubstr("X-RateLimit-Remaining: 0"));
    EXPECT_EQ(record.deciding_limit, "few");
    EXPECT_EQ(record.outcome, "rejected");
    identity::bucket_name bucket;
    bucket.start("few");
    bucket.add(peer);
    EXPECT_EQ(record.bucket_name, bucket.bytes());
    EXPECT_EQ(ask("/free").next, next::forward);
    EXPECT_EQ(record.bucket_name, "");
    EXPECT_EQ(limit_lines(), "") << "nothing is left of the request before";
    EXPECT_TRUE(record.limit_statement().reports.empty());
}

TEST_F(admissions, look_for_the_client_only_where_a_trusted_peer_writes_it)
{
    EXPECT_EQ(ask("/free", "X-Forwarded-For: 192.0.2.1\r\n").next, next::forward);
    EXPECT_TRUE(forwarding().peer_trusted);
    EXPECT_EQ(record.client, base::ip_address::v4(0xc0000201));
    ask("/free", "Forwarded: for=192.0.2.1\r\n");
    EXPECT_EQ(record.client, peer);
    identify_by("X-Client");
    ask("/free", "X-Other: 192.0.2.1\r\nx-CLIENT: 192.0.2.2\r\n");
    EXPECT_EQ(record.client, base::ip_address::v4(0xc0000202));
}

TEST_F(admissions, count_each_client_for_itself)
{
    for (const char* client : {"192.0.2.1", "192.0.2.2"}) {
        const std::string lines = "X-Forwarded-For: " + std::string(client) + "\r\n";
        EXPECT_EQ(ask("/limited", lines).next, next::forward);
        EXPECT_EQ(ask("/limited", lines).next, next::forward);
        EXPECT_EQ(ask("/limited", lines).status, 429);
    }
}

TEST_F(admissions, that_lack_a_part_of_the_key_are_bad_requests)
{
    const admission missing = ask("/keyed");
    EXPECT_EQ(missing.status, 400);
    EXPECT_EQ(missing.detail, "header:x-key, which identifies the client, is missing");
    EXPECT_EQ(ask("/keyed", "X-Key: a\r\n").next, next::forward);
    const admission ambiguous = ask("/keyed", "X-Key: a\r\nX-Key: b\r\n");
    EXPECT_EQ(ambiguous.status, 400);
    EXPECT_THAT(ambiguous.detail, HasSubstr("header:x-key, which identifies the client, has two"));
}

TEST_F(admissions, of_bodies_that_are_too_large_are_refused_by_their_route)
{
    for (const auto& [path, length, status] :
         {std::tuple{"/free", 10, 0}, {"/free", 11, 413}, {"/large", 11, 0}, {"/large", 13, 413}}) {
        const admission said =
            ask(path, "Content-Length: " + std::to_string(length) + "\r\n", "POST");
        EXPECT_EQ(said.status, status) << path << ' ' << length;
        EXPECT_EQ(record.route->name, std::string_view(path).substr(1)) << "for the log";
    }
}

TEST_F(admissions, wait_for_a_shared_store)
{
    EXPECT_EQ(ask("/shared").next, next::wait);
    shared->answer(true);
    EXPECT_EQ(concluded->next, next::forward);
    EXPECT_THAT(limit_lines(), HasSubstr("X-RateLimit-Remaining: 7"));
    EXPECT_EQ(ask("/shared").next, next::wait);
    shared->answer(false);
    EXPECT_EQ(concluded->status, 429);
    EXPECT_EQ(concluded->retry_after, std::chrono::seconds{3});
}

TEST_F(admissions, that_are_abandoned_are_told_nothing)
{
    EXPECT_EQ(ask("/shared").next, next::wait);
    a.abandon(0);
    EXPECT_FALSE(abandoned.empty());
    ASSERT_TRUE(shared->is_asked()) << "and is charged all the same";
    shared->answer(true);
    EXPECT_TRUE(abandoned.empty());
    EXPECT_FALSE(shared->is_asked());
    EXPECT_FALSE(concluded);
    abandoned.sweep();
    EXPECT_EQ(ask("/limited").next, next::forward) << "its check serves others";
}

TEST_F(admissions, that_are_abandoned_keep_no_tokens_that_they_would_have_waited_for)
{
    EXPECT_EQ(ask("/patient").next, next::wait);
    a.abandon(0);
    shared->answer(true);
    EXPECT_TRUE(shared->is_asked()) << "for a refund";
    shared->answer(true);
    EXPECT_EQ(ask("/patient").next, next::wait);
    a.abandon(0);
    shared->answer(false);
    EXPECT_FALSE(shared->is_asked()) << "nothing was taken";
}

TEST_F(admissions, that_are_abandoned_settle_as_without_a_response)
{
    for (const bool refunds : {true, false}) {
        settle_far(refunds);
        EXPECT_EQ(ask("/shared").next, next::wait);
        a.abandon(0);
        shared->answer(true);
        EXPECT_EQ(shared->is_asked(), refunds) << "for a refund";
        if (refunds) {
            shared->answer(true);
        }
    }
    EXPECT_EQ(missing_settlements_of_far(), 2U);
    settle_far(true);
    EXPECT_EQ(ask("/shared").next, next::wait);
    a.abandon(0);
    shared->answer(false);
    EXPECT_FALSE(shared->is_asked()) << "nothing was taken";
}

TEST_F(admissions, of_a_route_that_redirects_are_answered_within_its_limits)
{
    for (const auto& [target, to] :
         {std::pair{"/moved?x", "https://h:1/?x"}, std::pair{"/moved//b/c", "https://h:1/b/c"}}) {
        EXPECT_EQ(ask(target).next, next::forward);
        EXPECT_TRUE(record.is_answered());
        EXPECT_EQ(forwarding().default_host, "");
        const admission answer = a.answer();
        EXPECT_EQ(answer.next, next::respond);
        EXPECT_EQ(answer.status, 301);
        EXPECT_EQ(answer.extra.name, "Location");
        EXPECT_EQ(answer.extra.value, to);
        EXPECT_NE(answer.fixed, nullptr);
    }
    EXPECT_EQ(ask("/moved").status, 429);
}

}  // namespace admitter_test
}  // namespace gateway::limits
