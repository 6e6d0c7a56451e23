#include "gateway/store/redis/protocol/reply.hpp"

#include "gateway/net/loop.hpp"
#include "gateway/store/redis/protocol/command.hpp"
#include "gateway/store/redis/protocol/complaint.hpp"
#include "gateway/store/redis/protocol/greeting.hpp"
#include "gateway/store/remote/reply_parser.hpp"

#include <gtest/gtest.h>

#include <span>
#include <string>
#include <vector>

namespace gateway::store::redis {
namespace reply_test {

void feed(reply_reader& r, std::string_view bytes)
{
    r.feed({bytes.data(), bytes.size()});
}

reply parsed(std::string_view bytes)
{
    reply_reader reader;
    reply r;
    feed(reader, bytes);
    EXPECT_EQ(reader.read(r), reply_reader::next::reply) << bytes;
    return r;
}

TEST(reply_reader, reads_replies_however_they_are_cut)
{
    const std::string bytes =
        "*5\r\n:1\r\n:1\r\n:4\r\n:0\r\n:3600000000\r\n-OOM no\r\n$3\r\nabc\r\n+OK\r\n:7\r\n$-1\r\n";
    for (std::size_t cut = 1; cut < bytes.size(); ++cut) {
        reply_reader reader;
        std::vector<reply> all;
        for (const std::string& piece : {bytes.substr(0, cut), bytes.substr(cut)}) {
            feed(reader, piece);
            reply r;
            while (reader.read(r) == reply_reader::next::reply) {
                all.push_back(r);
            }
        }
        ASSERT_EQ(all.size(), 6U) << cut;
        EXPECT_TRUE(reader.drained());
        EXPECT_EQ(all[0].what, reply::kind::integers);
        EXPECT_EQ(all[0].integers[4], 3'600'000'000);
        EXPECT_EQ(all[1].what, reply::kind::error);
        EXPECT_EQ(all[1].text(), "OOM no");
        EXPECT_EQ(all[2].text(), "abc");
        EXPECT_EQ(all[3].what, reply::kind::status);
        EXPECT_EQ(all[4].integers[0], 7);
        EXPECT_EQ(all[5].what, reply::kind::nil);
    }
}

TEST(reply_reader, calls_anything_else_garbage_and_stays_so)
{
    const std::string many = "*" + std::to_string(reply::max_integers + 1) + "\r\n";
    for (const std::string bytes :
         {"HTTP/1.1 400 Bad Request\r\n",
          "*2147483647\r\n",
          "*99999999999\r\n",
          ":x\r\n",
          "$x\r\n",
          many.c_str()}) {
        reply_reader reader;
        reply r;
        feed(reader, bytes);
        EXPECT_EQ(reader.read(r), reply_reader::next::garbage) << bytes;
        feed(reader, "+OK\r\n");
        EXPECT_EQ(reader.read(r), reply_reader::next::garbage);
        reader.reset();
        feed(reader, "+OK\r\n");
        EXPECT_EQ(reader.read(r), reply_reader::next::reply);
    }
}

TEST(reply_reader, keeps_no_more_than_its_bound)
{
    reply_reader reader;
    reply r;
    feed(reader, "$500000000\r\n");
    const std::string kilobyte(1024, 'x');
    std::size_t fed = 0;  // KiB
    while (reader.read(r) == reply_reader::next::nothing && fed < 1000) {
        feed(reader, kilobyte);
        ++fed;
    }
    EXPECT_EQ(reader.read(r), reply_reader::next::garbage);
    EXPECT_LE(fed * kilobyte.size(), reply_reader::max_unread);
}

// As after a server that stood still.
TEST(reply_reader, takes_a_whole_read_behind_the_beginning_of_a_reply)
{
    reply_reader reader;
    reply r;
    std::string replies;
    while (replies.size() <= net::loop::read_buffer_bytes) {
        replies += ":1\r\n";
    }
    feed(reader, ":");
    EXPECT_EQ(reader.read(r), reply_reader::next::nothing);
    feed(reader, replies.substr(1, net::loop::read_buffer_bytes));
    EXPECT_EQ(reader.read(r), reply_reader::next::reply);
}

TEST(reply_reader, cuts_long_text)
{
    const reply r = parsed("$5000\r\n" + std::string(5000, 'x') + "\r\n");
    EXPECT_EQ(r.text(), std::string(reply::max_text, 'x'));
}

TEST(reply_reader, reads_the_texts_of_an_array_one_after_the_other)
{
    const reply role =
        parsed("*3\r\n$6\r\nmaster\r\n:77\r\n*1\r\n*3\r\n$2\r\n::\r\n$0\r\n\r\n$1\r\n9\r\n");
    EXPECT_EQ(role.what, reply::kind::words);
    EXPECT_EQ(role.word(0), "master");
    EXPECT_EQ(role.word(1), "::");
    EXPECT_EQ(role.word(2), "");
    EXPECT_EQ(role.word(3), "9");
    EXPECT_EQ(role.word(4), "");
    for (const char* other :
         {"*2\r\n:1\r\n$1\r\nx\r\n", "*1\r\n*1\r\n:1\r\n", "*1\r\n$-1\r\n", "*2\r\n:1\r\n*0\r\n"}) {
        EXPECT_EQ(parsed(other).what, reply::kind::words) << other;
        EXPECT_EQ(call_number(parsed(other)), std::nullopt) << other;
    }
    const std::string kilobyte(1000, 'x');
    const std::string long_word = "$1000\r\n" + kilobyte + "\r\n";
    const reply cut = parsed("*4\r\n" + long_word + long_word + long_word + "$1\r\ny\r\n");
    EXPECT_EQ(cut.word(1), kilobyte);
    EXPECT_EQ(cut.word(2), "y") << "what does not fit is left out";
    EXPECT_EQ(parsed("+OK\r\n").word(0), "");
}

TEST(classify, knows_what_servers_say)
{
    struct row {
        std::string_view text;
        failure why;
        bool reconnect = false;
    };

    for (const row& r : std::vector<row>{
             {"LOADING Redis is loading the dataset in memory", failure::loading},
             {"BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN "
              "NOSAVE.",
              failure::loading},
             {"MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
              failure::loading},
             {"READONLY You can't write against a read only replica.", failure::readonly, true},
             {"ERR Error running script (call to f_x): @user_script:9: -READONLY You can't write "
              "against a read only replica.",
              failure::readonly,
              true},
             {"ERR Error running script (call to f_x): @user_script:9: -OOM command not allowed "
              "when used memory > 'maxmemory'.",
              failure::readonly},
             {"ERR Error running script (call to f_x): @user_script:9: WRONGTYPE Operation against "
              "a key",
              failure::corrupt},
             {"OOM command not allowed when used memory > 'maxmemory'. script: x, on "
              "@user_script:1.",
              failure::readonly},
             {"NOREPLICAS Not enough good replicas to write.", failure::readonly},
             {"MISCONF Redis is configured to save RDB snapshots", failure::readonly},
             {"NOAUTH Authentication required.", failure::auth, true},
             {"WRONGPASS invalid username-password pair or user is disabled.", failure::auth, true},
             {"NOPERM this user has no permissions to run the 'evalsha' command", failure::auth},
             {"WRONGTYPE Operation against a key holding the wrong kind of value",
              failure::corrupt},
             {"MOVED 3999 127.0.0.1:6381", failure::config},
             {"CROSSSLOT Keys in request don't hash to the same slot", failure::config},
             {"ERR unknown command 'EVALSHA'", failure::config},
             {"ERR max number of clients reached", failure::unreachable, true},
             {"ERR user_script:3: attempt to index a nil value", failure::config},
             {"", failure::config},
             {"BUSYKEY Target key name already exists.", failure::config},
         }) {
        EXPECT_EQ(classify(r.text).why, r.why) << r.text;
        EXPECT_EQ(classify(r.text).reconnect, r.reconnect) << r.text;
        EXPECT_FALSE(classify(r.text).noscript) << r.text;
    }
    EXPECT_TRUE(classify("NOSCRIPT No matching script. Please use EVAL.").noscript);
}

// Questions of any kind, each asked once.
const std::vector<simple_charges> any_three{{.times = 1}, {.times = 1}, {.times = 1}};

// To one question.
call_results::kind read_one(const char* text, answer& into)
{
    const reply r = parsed(text);
    reply_parser results{r.all(), std::span{any_three}.first(1)};
    const auto kind = results.next(1, into);
    return results.ended() ? kind : call_results::kind::garbage;
}

TEST(reply_parser, are_exactly_what_the_script_says)
{
    answer a;
    ASSERT_EQ(
        read_one("*7\r\n:77\r\n:5\r\n:0\r\n:0\r\n:3\r\n:1500000\r\n:2\r\n", a),
        call_results::kind::answer
    );
    EXPECT_FALSE(a.admitted);
    EXPECT_FALSE(a.decisions()[0].allowed);
    EXPECT_EQ(a.decisions()[0].remaining, 3);
    EXPECT_EQ(a.decisions()[0].retry_after, std::chrono::milliseconds{1500});
    EXPECT_EQ(a.decisions()[0].reset_after, std::chrono::microseconds{2});
    for (const char* damaged :
         {"*3\r\n:77\r\n:5\r\n:-1\r\n",
          "*7\r\n:77\r\n:5\r\n:1\r\n:1\r\n:1\r\n:0\r\n:9000000000000000\r\n",
          "*7\r\n:77\r\n:5\r\n:0\r\n:0\r\n:1\r\n:9000000000000000\r\n:0\r\n"}) {
        EXPECT_EQ(read_one(damaged, a), call_results::kind::corrupt) << damaged;
    }
    for (const char* wrong :
         {"*2\r\n:77\r\n:5\r\n",
          "*6\r\n:77\r\n:5\r\n:1\r\n:1\r\n:1\r\n:0\r\n",
          "*7\r\n:77\r\n:5\r\n:2\r\n:1\r\n:1\r\n:0\r\n:0\r\n",
          "*7\r\n:77\r\n:5\r\n:-2\r\n:1\r\n:1\r\n:0\r\n:0\r\n",
          "*7\r\n:77\r\n:5\r\n:1\r\n:3\r\n:1\r\n:0\r\n:0\r\n",
          "*7\r\n:77\r\n:5\r\n:1\r\n:1\r\n:-1\r\n:0\r\n:0\r\n",
          "*7\r\n:77\r\n:5\r\n:1\r\n:1\r\n:1\r\n:-1\r\n:0\r\n",
          "*8\r\n:77\r\n:5\r\n:1\r\n:1\r\n:1\r\n:0\r\n:0\r\n:1\r\n"}) {
        EXPECT_EQ(read_one(wrong, a), call_results::kind::garbage) << wrong;
    }
}

TEST(reply_parser, come_question_by_question)
{
    const reply r = parsed("*9\r\n:77\r\n:5\r\n:1\r\n:1\r\n:4\r\n:0\r\n:9\r\n:-1\r\n:0\r\n");
    reply_parser results{r.all(), any_three};
    answer a;
    EXPECT_EQ(results.grant_epoch(), 5);
    EXPECT_EQ(results.next(1, a), call_results::kind::answer);
    EXPECT_EQ(a.decisions()[0].remaining, 4);
    EXPECT_EQ(results.next(2, a), call_results::kind::corrupt);
    EXPECT_FALSE(results.ended());
    EXPECT_EQ(results.next(1, a), call_results::kind::garbage) << "it ends before its numbers";
    EXPECT_EQ(results.next(1, a), call_results::kind::garbage) << "nothing more was asked";
}

// Three buckets of five a second. Each is asked three times for two tokens: one owes nothing, one
// holds something else, one owes four. Then comes a question of another kind.
TEST(reply_parser, of_usual_questions_follow_from_what_buckets_owed)
{
    const std::vector<simple_charges> shape{
        {.times = 3, .enforced = false, .cost = 2, .interval = 1'000'000, .burst = 5, .keys = 3},
        {.times = 1}};
    const reply r = parsed(
        "*10\r\n:77\r\n:5\r\n:0\r\n:-1\r\n:4000000\r\n"
        ":1\r\n:1\r\n:4\r\n:0\r\n:9\r\n"
    );
    reply_parser results{r.all(), shape};
    answer a;
    const auto next = [&] {
        EXPECT_EQ(results.next(1, a), call_results::kind::answer);
        EXPECT_TRUE(a.admitted) << "it is not enforced";
        return a.decisions()[0];
    };
    for (const std::int64_t remaining : {3, 1}) {
        const auto d = next();
        EXPECT_TRUE(d.allowed);
        EXPECT_EQ(d.remaining, remaining);
        EXPECT_EQ(d.retry_after, base::duration{0});
        EXPECT_EQ(d.reset_after, std::chrono::seconds{5 - remaining});
    }
    auto d = next();
    EXPECT_FALSE(d.allowed);
    EXPECT_EQ(d.remaining, 1);
    EXPECT_EQ(d.retry_after, std::chrono::seconds{1});
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(results.next(1, a), call_results::kind::corrupt);
    }
    for (int i = 0; i < 3; ++i) {
        d = next();
        EXPECT_FALSE(d.allowed);
        EXPECT_EQ(d.remaining, 1);
        EXPECT_EQ(d.retry_after, std::chrono::seconds{1});
        EXPECT_EQ(d.reset_after, std::chrono::seconds{4});
    }
    EXPECT_FALSE(results.ended());
    EXPECT_EQ(next().remaining, 4);
    EXPECT_TRUE(results.ended());
}

TEST(reply_parser, of_usual_questions_take_no_nonsense)
{
    const std::vector<simple_charges> shape{
        {.times = 2, .enforced = true, .cost = 1, .interval = 1'000'000, .burst = 5, .keys = 1}};
    answer a;
    const auto read = [&](const char* text, std::size_t charges = 1) {
        const reply r = parsed(text);
        reply_parser results{r.all(), shape};
        const auto first = results.next(charges, a);
        const bool both = results.next(charges, a) == first && results.ended();
        return both ? first : call_results::kind::garbage;
    };
    EXPECT_EQ(read("*3\r\n:77\r\n:5\r\n:0\r\n"), call_results::kind::answer);
    EXPECT_EQ(read("*3\r\n:77\r\n:5\r\n:9007199254740991\r\n"), call_results::kind::corrupt);
    EXPECT_EQ(read("*3\r\n:77\r\n:5\r\n:9223372036854775807\r\n"), call_results::kind::corrupt);
    EXPECT_EQ(read("*3\r\n:77\r\n:5\r\n:0\r\n", 2), call_results::kind::garbage)
        << "it is of one charge";
    for (const char* wrong :
         {"*2\r\n:77\r\n:5\r\n",
          "*3\r\n:77\r\n:5\r\n:-2\r\n",
          "*3\r\n:77\r\n:5\r\n:-9223372036854775808\r\n",
          "*4\r\n:77\r\n:5\r\n:0\r\n:0\r\n"}) {
        EXPECT_EQ(read(wrong), call_results::kind::garbage) << wrong;
    }
}

TEST(call_number, is_that_of_the_call)
{
    EXPECT_EQ(call_number(parsed("*3\r\n:77\r\n:5\r\n:-1\r\n")), 77);
    for (const char* none : {"*0\r\n", "*1\r\n:77\r\n", "+OK\r\n", ":77\r\n", "$-1\r\n"}) {
        EXPECT_EQ(call_number(parsed(none)), std::nullopt) << none;
    }
}

TEST(greeting, says_only_what_is_needed_and_stops_at_the_first_refusal)
{
    redis_options o;
    EXPECT_EQ(greeting{o}.bytes().find("*1\r\n$4\r\nPING\r\n*3\r\n$6\r\nSCRIPT\r\n"), 0U);
    o.user = "u";
    o.password = "p\r\n";
    o.database = 2;
    greeting g{o};
    EXPECT_EQ(
        g.bytes().find(
            "*3\r\n$4\r\nAUTH\r\n$1\r\nu\r\n$3\r\np\r\n\r\n*2\r\n$6\r\nSELECT\r\n$1\r\n2\r\n*3\r\n"
        ),
        0U
    );
    EXPECT_EQ(g.accept(parsed("+OK\r\n")), std::nullopt);
    EXPECT_EQ(g.accept(parsed("+OK\r\n")), std::nullopt);
    EXPECT_FALSE(g.done());
    const std::string sha(40, 'a');
    EXPECT_EQ(g.accept(parsed("$40\r\n" + sha + "\r\n")), std::nullopt);
    EXPECT_TRUE(g.done());
    EXPECT_EQ(g.script_sha(), sha);

    EXPECT_EQ(
        greeting{o}.accept(parsed("-ERR AUTH <password> called without any password configured\r\n")
        ),
        failure::auth
    );
    EXPECT_EQ(greeting{o}.accept(parsed("-LOADING x\r\n")), failure::loading);
    EXPECT_EQ(greeting{o}.accept(parsed(":1\r\n")), failure::protocol);
    greeting plain{redis_options{}};
    EXPECT_EQ(plain.accept(parsed("+PONG\r\n")), std::nullopt);
    EXPECT_EQ(plain.accept(parsed("+OK\r\n")), failure::protocol) << "no hash of the script";
    EXPECT_EQ(
        greeting{redis_options{}}.accept(parsed("-ERR unknown command\r\n")), failure::config
    );
}

TEST(greeting, asks_the_role_of_whom_sentinels_name)
{
    redis_options o;
    o.sentinel.emplace();
    EXPECT_EQ(greeting{o}.bytes().find("*1\r\n$4\r\nROLE\r\n*3\r\n$6\r\nSCRIPT\r\n"), 0U);
    greeting good{o};
    EXPECT_EQ(good.accept(parsed("*3\r\n$6\r\nmaster\r\n:0\r\n*0\r\n")), std::nullopt);
    EXPECT_FALSE(good.done());
    const char* const replica =
        "*5\r\n$5\r\nslave\r\n$9\r\n127.0.0.1\r\n:6379\r\n$9\r\nconnected\r\n:0\r\n";
    EXPECT_EQ(greeting{o}.accept(parsed(replica)), failure::readonly);
    EXPECT_EQ(greeting{o}.accept(parsed("*1\r\n$8\r\nsentinel\r\n")), failure::readonly);
    EXPECT_EQ(greeting{o}.accept(parsed("-NOPERM no role\r\n")), failure::auth);
}

TEST(encode_take, puts_hashed_keys_and_exact_numbers)
{
    const auto l = *limit::limit::make(1, std::chrono::hours{1}, 5);
    const charge c{
        .limit_name = "l",
        .bucket_name = base::hashed_name{"secret"},
        .limit = &l,
        .cost = 9,
        .enforced = false};
    call asked;
    asked.number = 77;
    asked.count = 1;
    asked.questions[0].charges = {&c, 1};
    std::string out;
    encode_take(out, "sha", encode(asked, {.key_prefix = "gw:"}));
    EXPECT_EQ(out.find("secret"), std::string::npos);
    EXPECT_EQ(
        out,
        "*14\r\n$7\r\nEVALSHA\r\n$3\r\nsha\r\n$1\r\n2\r\n$37\r\n" + key_of("gw:", c) +
            "\r\n$8\r\ngw:grant\r\n$2\r\n77\r\n$1\r\n1\r\n$10\r\n3600000000\r\n$1\r\n5\r\n"
            "$1\r\n1\r\n$1\r\n0\r\n$1\r\n6\r\n$1\r\n1\r\n$1\r\n1\r\n"
    );
}

TEST(encode_take, says_once_what_is_asked_many_times_in_a_row)
{
    const auto l = *limit::limit::make(1, std::chrono::hours{1}, 5);
    const charge a{.limit_name = "l", .bucket_name = base::hashed_name{"a"}, .limit = &l};
    const charge again = a;
    const charge b{.limit_name = "l", .bucket_name = base::hashed_name{"b"}, .limit = &l};
    const charge c{.limit_name = "l", .bucket_name = base::hashed_name{"c"}, .limit = &l};
    const charge d{.limit_name = "l", .bucket_name = base::hashed_name{"d"}, .limit = &l};
    call asked;
    asked.number = 1;
    asked.count = 5;
    asked.questions[0].charges = {&a, 1};
    asked.questions[1].charges = {&again, 1};
    asked.questions[2].charges = {&b, 1};
    asked.questions[3].charges = {&c, 1};
    asked.questions[4].charges = {&d, 1};
    std::string out;
    encode_take(out, "sha", encode(asked, {.key_prefix = ""}));
    EXPECT_TRUE(out.starts_with("*22\r\n"))
        << "three words, four keys, that of grants, the number, the limit's three, and twice five: "
        << out;
    EXPECT_TRUE(
        out.ends_with("$1\r\n5\r\n$1\r\n2\r\n$1\r\n0\r\n$1\r\n1\r\n$1\r\n1\r\n$1\r\n1\r\n"
                      "$1\r\n1\r\n$1\r\n0\r\n$1\r\n1\r\n$1\r\n1\r\n$1\r\n3\r\n")
    ) << out;
}

TEST(quotable, has_the_words_of_the_server_and_no_secret)
{
    EXPECT_EQ(quotable("NOAUTH Authentication required.", "pw"), "NOAUTH Authentication required.");
    EXPECT_EQ(
        quotable("NOPERM User gw has no permissions to run the 'evalsha' command", ""),
        "NOPERM User gw has no permissions to run the 'evalsha' command"
    );
    for (const char* repeating :
         {"ERR unknown command `AUTH`, with args beginning with: `s3cret`, ",
          "ERR unknown command 'AUTH', with args beginning with: 's3cret' ",
          "ERR bad s3cret",
          "s3crets3cret is none"}) {
        EXPECT_EQ(quotable(repeating, "s3cret").find("s3cret"), std::string::npos) << repeating;
    }
    EXPECT_EQ(quotable("ERR bad s3cret.", "s3cret"), "ERR bad ***.");
    EXPECT_EQ(quotable("***", "*"), "*********");
    EXPECT_EQ(quotable(std::string(200, 'x'), "").size(), 123U);
}

}  // namespace reply_test
}  // namespace gateway::store::redis
