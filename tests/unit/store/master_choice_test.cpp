#include "gateway/store/redis/sentinel/master_choice.hpp"

#include "gateway/store/redis/protocol/tree.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace gateway::store::redis {
namespace master_choice_test {

reply parsed(std::string_view bytes)
{
    reply_reader reader;
    reply r;
    reader.feed(bytes);
    EXPECT_EQ(reader.read(r), reply_reader::next::reply) << bytes;
    return r;
}

sentinel_options asked(std::size_t count, std::string password = {})
{
    sentinel_options o;
    for (std::size_t i = 0; i < count; ++i) {
        o.sentinels.push_back({"s" + std::to_string(i), "26379", {}});
    }
    o.master = "buckets";
    o.password = std::move(password);
    return o;
}

net::server_address at(const std::string& port)
{
    return {"10.0.0.1", port, {}};
}

sentinel_answer says(const std::string& port, std::int64_t epoch)
{
    return {.master = at(port), .epoch = epoch};
}

sentinel_answer refuses(failure why, std::string detail)
{
    return {.master = {}, .why = why, .detail = std::move(detail)};
}

constexpr const char* address = "*2\r\n$8\r\n10.0.0.1\r\n$4\r\n6380\r\n";
constexpr const char* fields =
    "*6\r\n$4\r\nname\r\n$7\r\nbuckets\r\n$5\r\nrunid\r\n$0\r\n\r\n$12\r\nconfig-epoch\r\n$2\r\n17"
    "\r\n";

sentinel_answer answer_of(const sentinel_options& o, const std::vector<std::string>& replies)
{
    master_answer reader{o};
    for (const std::string& r : replies) {
        EXPECT_FALSE(reader.done());
        reader.accept(parsed(r));
    }
    EXPECT_TRUE(reader.done());
    return reader.answer();
}

TEST(master_query, begins_with_the_password_if_there_is_one)
{
    EXPECT_EQ(
        encode_master_query(asked(1)),
        "*3\r\n$8\r\nSENTINEL\r\n$23\r\nGET-MASTER-ADDR-BY-NAME\r\n$7\r\nbuckets\r\n"
        "*3\r\n$8\r\nSENTINEL\r\n$6\r\nMASTER\r\n$7\r\nbuckets\r\n"
    );
    EXPECT_EQ(encode_master_query(asked(1, "p")).find("*2\r\n$4\r\nAUTH\r\n$1\r\np\r\n*3\r\n"), 0U);
}

TEST(master_answer, is_an_address_and_an_epoch)
{
    const sentinel_answer answer = answer_of(asked(1), {address, fields});
    EXPECT_EQ(answer.master, at("6380"));
    EXPECT_EQ(answer.epoch, 17);
    EXPECT_EQ(answer_of(asked(1, "p"), {"+OK\r\n", address, fields}).master, at("6380"));
}

TEST(master_answer, says_why_it_is_none)
{
    const std::string unknown = "-ERR No such master with that name\r\n";

    struct row {
        std::vector<std::string> replies;
        failure why;
        const char* detail;
    };

    for (const row& r : std::vector<row>{
             {{"$-1\r\n", unknown}, failure::config, "knows no master of that name"},
             {{"-NOAUTH Authentication required.\r\n", "-NOAUTH x\r\n"},
              failure::auth,
              "NOAUTH Authentication required."},
             {{"-LOADING x\r\n", fields}, failure::loading, "LOADING x"},
             {{"-ERR unknown command\r\n", unknown}, failure::config, "ERR unknown command"},
             {{"+OK\r\n", fields}, failure::protocol, "no reply of a sentinel"},
             {{":1\r\n", fields}, failure::protocol, "no reply of a sentinel"},
             {{"*2\r\n$1\r\nh\r\n$5\r\n65536\r\n", fields},
              failure::protocol,
              "no reply of a sentinel"},
             {{"*1\r\n$1\r\nh\r\n", fields}, failure::protocol, "no reply of a sentinel"},
             {{address, "*0\r\n"}, failure::protocol, "no reply of a sentinel"},
             {{address, "*2\r\n$12\r\nconfig-epoch\r\n$2\r\n-1\r\n"},
              failure::protocol,
              "no reply of a sentinel"},
         }) {
        const sentinel_answer answer = answer_of(asked(1), r.replies);
        EXPECT_FALSE(answer.master);
        EXPECT_EQ(answer.why, r.why) << r.replies[0];
        EXPECT_EQ(answer.detail, r.detail);
    }
    const std::vector<std::string> stranger{
        "-ERR AUTH <password> called without any password configured, pa55\r\n", address, fields};
    const sentinel_answer answer = answer_of(asked(1, "pa55"), stranger);
    EXPECT_FALSE(answer.master);
    EXPECT_EQ(answer.why, failure::auth);
    EXPECT_EQ(answer.detail.find("pa55"), std::string::npos);
}

TEST(masters_named, are_of_the_newest_epoch_and_come_once)
{
    std::vector<std::optional<sentinel_answer>> answers{
        says("1", 3), says("2", 4), std::nullopt, says("1", 3), says("3", 3), says("2", 1)};
    EXPECT_EQ(masters_named(asked(6), answers).masters, std::vector{at("2")});
    answers[1] = says("1", 3);
    EXPECT_EQ(masters_named(asked(6), answers).masters, (std::vector{at("1"), at("3")}));
}

TEST(masters_named, names_each_sentinels_reply_if_there_is_no_master)
{
    const std::vector<std::optional<sentinel_answer>> away{
        refuses(failure::unreachable, "Connection refused"),
        std::nullopt,
        refuses(failure::timeout, "silent")};
    const naming none = masters_named(asked(3), away);
    EXPECT_TRUE(none.masters.empty());
    EXPECT_EQ(none.why, failure::unreachable);
    EXPECT_EQ(
        none.detail,
        "no sentinel names the master buckets: s0:26379 (Connection refused), s1:26379 (silent), "
        "s2:26379 (silent)"
    );
    const std::vector<std::optional<sentinel_answer>> unknown{
        refuses(failure::unreachable, "Connection refused"),
        refuses(failure::config, "knows no master of that name")};
    EXPECT_EQ(masters_named(asked(2), unknown).why, failure::config);
}

TEST(master_choice, is_the_newest_until_that_fails)
{
    master_choice choice;
    const naming both{.masters = {at("2"), at("1")}};
    EXPECT_EQ(choice.next(both), at("2"));
    EXPECT_EQ(choice.next(both), at("1"));
    EXPECT_EQ(choice.next(both), at("2")) << "all have been tried: from the beginning";
    choice.accepted(at("2"));
    EXPECT_EQ(choice.next(both), at("2"));
    choice.accepted(at("2"));
    EXPECT_EQ(choice.next({.masters = {at("1")}}), at("1"));
    const naming changed{.masters = {at("3"), at("1")}};
    EXPECT_EQ(choice.next(changed), at("3")) << "one that is new is tried at once";
    EXPECT_EQ(choice.next(changed), at("3"));
}

TEST(master_choice, tries_the_replicas_of_a_master_that_says_it_is_none)
{
    master_choice choice;
    const naming named{.masters = {at("1")}, .replicas = {at("2"), at("3")}};
    EXPECT_EQ(choice.next(named), at("1"));
    EXPECT_FALSE(choice.wants_replicas());
    choice.denied(at("1"));
    EXPECT_TRUE(choice.wants_replicas());
    choice.accepted(at("9"));
    EXPECT_EQ(choice.next(named), at("2"));
    EXPECT_EQ(choice.next(named), at("3"));
    EXPECT_EQ(choice.next(named), at("1")) << "it may be one again";
    EXPECT_EQ(choice.next(named), at("2"));
    choice.accepted(at("2"));
    EXPECT_TRUE(choice.has_denied(at("1"))) << "sentinels name it still";
    choice.accepted(at("1"));
    EXPECT_FALSE(choice.wants_replicas());
}

TEST(master_choice, forgets_what_a_master_said_when_sentinels_name_another)
{
    master_choice choice;
    choice.denied(at("1"));
    const naming named{.masters = {at("2")}, .replicas = {at("1"), at("3")}};
    EXPECT_EQ(choice.next(named), at("2"));
    EXPECT_FALSE(choice.wants_replicas());
    EXPECT_EQ(choice.next(named), at("2")) << "its replicas are none to try";
}

std::vector<net::server_address> replicas_of(const std::string& bytes)
{
    tree_reader reader;
    reader.feed(bytes);
    const tree parsed = reader.read();
    EXPECT_NE(parsed, nullptr) << bytes;
    return parsed == nullptr ? std::vector<net::server_address>{} : replicas_in(*parsed);
}

TEST(sentinel_replicas, are_those_that_are_not_down)
{
    const std::string port = "$4\r\nport\r\n$1\r\n2\r\n";
    const std::string host = "$2\r\nip\r\n$1\r\nh\r\n";
    const std::string well = "*6\r\n" + host + port + "$5\r\nflags\r\n$5\r\nslave\r\n";
    const std::string down = "*6\r\n" + host + port + "$5\r\nflags\r\n$12\r\nslave,s_down\r\n";
    const std::vector<net::server_address> found{{"h", "2", {}}};
    EXPECT_EQ(replicas_of("*3\r\n" + well + down + well), found);
    EXPECT_TRUE(replicas_of("*1\r\n" + down).empty());
    for (const std::string& bytes : std::vector<std::string>{
             "-ERR no\r\n", "*1\r\n+x\r\n", "*1\r\n*3\r\n" + host + ":1\r\n", "*0\r\n"}) {
        EXPECT_TRUE(replicas_of(bytes).empty()) << bytes;
    }
}

}  // namespace master_choice_test
}  // namespace gateway::store::redis
