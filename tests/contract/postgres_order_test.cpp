// Calls of several gateways that want the same rows wait for each other in one order, and lose
// nothing.
#include "gateway/store/postgres/statement.hpp"
#include "tests/contract/subjects.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace gateway::store::testing {
namespace postgres_order_test {

constexpr int gateways = 3;
constexpr int rounds = 100;
// Then there are new buckets.
constexpr int rounds_of_one = 4;
constexpr int buckets = 20;
constexpr std::int64_t burst = 1000;

// So slow that no token comes back meanwhile.
const limit::limit slow = *limit::limit::make(1, std::chrono::hours{1}, burst);

std::vector<std::string> names(int round)
{
    std::vector<std::string> all;
    for (int i = 0; i < buckets; ++i) {
        all.push_back(std::to_string(round / rounds_of_one) + " client " + std::to_string(i));
    }
    return all;
}

charge of(const std::string& name)
{
    return {.limit_name = "l", .bucket_name = base::hashed_name{name}, .limit = &slow};
}

// Asks for a token of each bucket at once, in another order each time, with so many charges in each
// question: one is usual, several are told in another way.
void take_from_all(
    postgres_subject& s, std::vector<std::string> order, std::mt19937& random, std::size_t together
)
{
    std::shuffle(order.begin(), order.end(), random);
    std::vector<charge> charges;
    for (const std::string& name : order) {
        charges.push_back(of(name));
    }
    std::deque<asker> askers;
    for (std::size_t i = 0; i < charges.size(); i += together) {
        const std::span<const charge> asked{&charges[i], together};
        ASSERT_EQ(s.store().ask(asked, askers.emplace_back()), std::nullopt);
    }
    const auto settled = [](const asker& a) { return a.settled(); };
    ASSERT_TRUE(run_until(s.io(), [&] { return std::ranges::all_of(askers, settled); }));
    for (const asker& a : askers) {
        ASSERT_TRUE(a.got && a.got->admitted);
    }
}

void keep_asking(std::shared_ptr<postgres_server> server, unsigned seed)
{
    postgres_subject s{std::move(server), postgres_subject::patient<postgres_options>()};
    ASSERT_TRUE(s.becomes_healthy());
    std::mt19937 random{seed};
    for (int round = 0; round < rounds; ++round) {
        take_from_all(s, names(round), random, random() % 2 + 1);
    }
}

TEST(postgres_rows, are_taken_in_one_order_whatever_the_questions)
{
    const auto server = std::make_shared<postgres_server>();
    postgres_subject last{server, postgres_subject::patient<postgres_options>()};
    std::vector<std::thread> threads;
    for (int i = 0; i < gateways; ++i) {
        threads.emplace_back(keep_asking, server, i);
    }
    for (std::thread& t : threads) {
        t.join();
    }
    for (int round = 0; round < rounds; round += rounds_of_one) {
        for (const std::string& name : names(round)) {
            const charge c = of(name);
            const auto a = last.take({&c, 1});
            ASSERT_TRUE(a);
            EXPECT_EQ(a->decisions()[0].remaining, burst - gateways * rounds_of_one - 1) << name;
        }
    }
    EXPECT_EQ(server->log().find("deadlock"), std::string::npos) << server->log();
}

// A connection on which one call at a time is made.
class caller {
public:
    explicit caller(const postgres_server& server) : server_(server), link_(server.connect())
    {
        ask("SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off");
        ask(std::string{postgres::prepared_statements()});
    }

    std::string ask(const std::string& sql) { return postgres_server::command(*link_, sql); }

    // Until it is answered, or waits for another call.
    void begin(const std::string& sql)
    {
        ASSERT_EQ(PQsendQuery(link_.get(), sql.c_str()), 1);
        const std::string state =
            "SELECT coalesce(wait_event_type, '') FROM pg_stat_activity "
            "WHERE pid = " +
            std::to_string(PQbackendPID(link_.get()));
        while (PQconsumeInput(link_.get()) == 1 && PQisBusy(link_.get()) == 1 &&
               server_.command(state) != "Lock") {
        }
    }

    // What went wrong; empty: nothing.
    std::string end()
    {
        std::string wrong;
        while (PGresult* const r = PQgetResult(link_.get())) {
            wrong += PQresultErrorMessage(r);
            PQclear(r);
        }
        return wrong;
    }

private:
    const postgres_server& server_;
    postgres_server::connection link_;
};

// `told`: its key, how often it is asked, its cost, the unit and the burst.
std::string take_one(const std::string& told, int number)
{
    return "EXECUTE take_one_2 (" + told + ", 'mark', " + std::to_string(number) + ")";
}

// The second from which its clock stands still, until the table `clock` says another one.
void set_clock(const postgres_server& server, int second)
{
    server.command("CREATE TABLE clock AS SELECT " + std::to_string(second) + " AS second");
    server.command(
        "CREATE OR REPLACE FUNCTION gateway.now() RETURNS bigint LANGUAGE sql VOLATILE AS "
        "'SELECT second * 1000000::bigint FROM clock'"
    );
}

// The first knows nothing of a bucket that is made and taken from while it waits for another one.
TEST(postgres_rows, that_are_missing_are_made_before_others_are_waited_for)
{
    const std::string both = "ARRAY['a', 'b', 'mark']";
    const std::vector<std::string> first_calls{
        "SELECT gateway.take_1(" + both + ", '{1, 0, 1, 2, 1, 1, 1000, 9, 1, 1, 1000, 9}')",
        "SELECT gateway.take_usual_2('{a,b}', '{1,1}', '{1,1}', '{1000,1000}', '{9,9}', 'mark', "
        "1)"};
    const std::string take_a = take_one("'a', 1, 1, 1000, 9", 2);
    const std::string take_b = take_one("'b', 1, 1, 1000, 9", 0);
    for (const std::string& first_call : first_calls) {
        const postgres_server server;
        ASSERT_EQ(server.command(postgres::schema_script(false)), "");
        caller holder{server};
        caller first{server};
        caller second{server};
        caller third{server};
        EXPECT_FALSE(holder.ask(take_b).starts_with("error"));
        holder.ask("BEGIN; SELECT key FROM gateway.buckets WHERE key = 'b' FOR UPDATE");
        first.begin(first_call);
        second.begin(take_a);
        third.begin(first_calls[1]);
        holder.ask("COMMIT");
        EXPECT_EQ(first.end(), "");
        EXPECT_EQ(second.end(), "");
        EXPECT_EQ(third.end(), "");
    }
}

// A call knows the time of its beginning, and reads a row that was written later, of a smaller
// burst.
TEST(postgres_rows, in_other_terms_are_read_at_the_time_behind_their_locks)
{
    const postgres_server server;
    ASSERT_EQ(server.command(postgres::schema_script(false)), "");
    set_clock(server, 1000);
    caller holder{server};
    caller waiting{server};
    holder.ask(take_one("'a', 1, 1, 1000000, 20", 0));
    holder.ask("BEGIN; SELECT key FROM gateway.buckets WHERE key = 'a' FOR UPDATE");
    const std::string take_all =
        "SELECT gateway.take_usual_2('{a}', '{20}', '{1}', '{1000000}', '{20}', 'mark', 1)";
    waiting.begin(take_all);
    server.command("UPDATE clock SET second = 1010");
    EXPECT_EQ(holder.ask(take_one("'a', 9, 1, 1000000, 9", 0)), "{0,0,0}");
    holder.ask("COMMIT");
    EXPECT_NE(waiting.end().find("changed by another call"), std::string::npos);
    EXPECT_EQ(waiting.ask(take_all), "{1,0,9000000}") << "eleven pass";
    EXPECT_EQ(server.command("SELECT full_at - gateway.now() FROM gateway.buckets"), "20000000");
}

// No bucket holds so many, be it full since a moment ago or for long. What it owes is nothing then,
// and not less.
TEST(postgres_rows, that_have_come_back_refuse_what_they_never_hold)
{
    const postgres_server server;
    ASSERT_EQ(server.command(postgres::schema_script(false)), "");
    set_clock(server, 1000);
    caller one{server};
    EXPECT_EQ(one.ask(take_one("'a', 1, 1, 10000000, 5", 0)), "{0,0,0}");
    const std::string row = "SELECT b FROM gateway.buckets b";
    const std::string before = server.command(row);
    const std::string six = take_one("'a', 1, 6, 10000000, 5", 0);
    for (const char* second : {"1005", "1010", "1011", "1100"}) {
        server.command(std::string{"UPDATE clock SET second = "} + second);
        const std::string owed = second == std::string{"1005"} ? "5000000" : "0";
        EXPECT_EQ(one.ask(six), "{0,0," + owed + "}") << second;
        EXPECT_EQ(server.command(row), before) << second;
    }
}

}  // namespace postgres_order_test
}  // namespace gateway::store::testing
