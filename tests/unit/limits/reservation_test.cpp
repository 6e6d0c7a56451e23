// Charges that go by the outcome of a call of gRPC, and those that do not.
#include "gateway/limits/reservations/reservation.hpp"

#include "gateway/limits/reservations/request_costs.hpp"
#include "tests/unit/http/heads.hpp"
#include "tests/unit/limits/limit_check_fixture.hpp"

namespace gateway::limits {
namespace reservation_test {

using http::grpc_status;
using policy::limit_rule;
using testing::limits;

class reservations : public limits {
protected:
    // A limit of five tokens, of which the last request took one.
    limit_rule& add_limit() { return add("l", policy::local_store, 5); }

    reservation ask_for(bool is_grpc)
    {
        ask();
        return reserved(is_grpc);
    }

    void respond_to(
        reservation& to,
        const policy::response_result& as,
        const http::response_head* head = nullptr
    )
    {
        to.responded(as, head, corrector(), nullptr);
    }

    // Tokens in the bucket, of which one is taken and given back.
    std::int64_t tokens()
    {
        const std::int64_t remaining = ask().limits()[0].decision.remaining;
        permit_leases none{clock_};
        reserved(false).refund(corrector(), none, nullptr);
        return remaining + 1;
    }

    // Tokens left after a call with this outcome.
    std::int64_t left_after(grpc_status outcome)
    {
        reservation call = ask_for(true);
        respond_to(call, {.status = 200});
        respond_to(call, {.status = 200, .grpc = outcome});
        EXPECT_TRUE(call.empty());
        return tokens();
    }

private:
    base::turn_clock clock_;
};

TEST_F(reservations, await_the_outcome_of_a_call_if_a_limit_goes_by_it)
{
    add_limit().outcome.charge_on.add(grpc_status::unauthenticated);
    reservation call = ask_for(true);
    respond_to(call, {.status = 200});
    EXPECT_FALSE(call.empty());
    EXPECT_EQ(tokens(), 4) << "nothing is known yet";
    respond_to(call, {.status = 200, .grpc = grpc_status::ok});
    EXPECT_TRUE(call.empty());
    EXPECT_EQ(tokens(), 5);
    respond_to(call, {.status = 200, .grpc = grpc_status::ok});
    EXPECT_EQ(tokens(), 5) << "once";
    EXPECT_EQ(left_after(grpc_status::unauthenticated), 4);
    EXPECT_EQ(left_after(grpc_status::unknown), 4) << "given back";
}

TEST_F(reservations, that_no_outcome_comes_for_stay)
{
    add_limit().outcome.charge_on.add(grpc_status::unauthenticated);
    reservation call = ask_for(true);
    respond_to(call, {.status = 200});
    call.keep_charges();
    EXPECT_TRUE(call.empty());
    EXPECT_EQ(tokens(), 4);
}

TEST_F(reservations, go_by_status_or_outcome_if_a_limit_names_both)
{
    limit_rule& rule = add_limit();
    rule.outcome.charge_on.ranges = {{500, 599}};
    rule.outcome.charge_on.add(grpc_status::unauthenticated);
    reservation call = ask_for(true);
    respond_to(call, {.status = 503, .grpc = grpc_status::unavailable});
    EXPECT_EQ(tokens(), 4);
    call = ask_for(true);
    respond_to(call, {.status = 200, .grpc = grpc_status::unauthenticated});
    EXPECT_EQ(tokens(), 3);
    call = ask_for(true);
    respond_to(call, {.status = 200, .grpc = grpc_status::unavailable});
    EXPECT_EQ(tokens(), 3);
}

TEST_F(reservations, of_a_limit_that_names_statuses_only_are_decided_by_the_head)
{
    add_limit().outcome.charge_on.ranges = {{401, 401}};
    reservation call = ask_for(true);
    respond_to(call, {.status = 200});
    EXPECT_TRUE(call.empty());
    EXPECT_EQ(tokens(), 5);
}

TEST_F(reservations, of_other_requests_go_by_the_status_alone)
{
    limit_rule& rule = add_limit();
    rule.outcome.charge_on.add(grpc_status::unauthenticated);
    reservation request = ask_for(false);
    respond_to(request, {.status = 200, .grpc = grpc_status::ok});
    EXPECT_TRUE(request.empty());
    EXPECT_EQ(tokens(), 4) << "nobody gets out of a limit by calling in another way";
    rule.outcome.charge_on.ranges = {{401, 401}};
    request = ask_for(false);
    respond_to(request, {.status = 200});
    EXPECT_EQ(tokens(), 4);
}

TEST_F(reservations, refill_a_bucket_by_the_outcome)
{
    add_limit().outcome.reset_on.add(grpc_status::ok);
    EXPECT_EQ(left_after(grpc_status::internal), 4);
    EXPECT_EQ(left_after(grpc_status::internal), 3);
    EXPECT_EQ(left_after(grpc_status::ok), 5);
    reservation call = ask_for(true);
    respond_to(call, {.status = 200, .grpc = grpc_status::internal});
    reservation request = ask_for(false);
    respond_to(request, {.status = 200});
    EXPECT_EQ(tokens(), 3) << "it is no call";
}

TEST_F(reservations, count_an_unknown_number_as_unknown)
{
    add_limit().outcome.charge_on.add(grpc_status::unknown);
    EXPECT_EQ(left_after(grpc_status::other), 4);
    EXPECT_EQ(left_after(grpc_status::internal), 4);
}

TEST_F(reservations, keep_the_cost_that_the_head_states_until_the_end)
{
    limit_rule& rule = add_limit();
    rule.outcome.charge_on.add(grpc_status::ok);
    rule.outcome.settle_header = "x-used";
    rule.outcome.settle_max = 9;
    const http::response_head head =
        http::testing::accepted_response("HTTP/1.1 200 OK\r\nX-Used: 3\r\n\r\n");
    for (const auto& [outcome, left] :
         {std::pair{grpc_status::internal, 5}, std::pair{grpc_status::ok, 2}}) {
        reservation call = ask_for(true);
        request_costs costs;
        call.responded({.status = 200}, &head, corrector(), &costs);
        call.responded({.status = 200, .grpc = outcome}, nullptr, corrector(), &costs);
        EXPECT_EQ(tokens(), left);
    }
}

}  // namespace reservation_test
}  // namespace gateway::limits
