// The local store from one process to the next: nobody is forgiven, and time goes on.
#include "gateway/store/memory/memory_snapshot.hpp"

#include "gateway/store/memory/snapshot_file.hpp"
#include "tests/unit/own_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <vector>

namespace gateway::store {
namespace memory_snapshot_test {

using std::chrono::hours;
using std::chrono::seconds;
using ::testing::HasSubstr;

TEST(place_of_a_snapshot, is_a_regular_file_in_a_folder)
{
    const unit::own_folder folder;
    const auto complaint = [&](const std::string& name) {
        return complaint_about_path(folder.path() / name).value_or("");
    };
    EXPECT_EQ(complaint("new"), "");
    std::ofstream{folder.path() / "old"} << "x";
    EXPECT_EQ(complaint("old"), "");
    EXPECT_THAT(complaint(""), HasSubstr("is a folder"));
    EXPECT_THAT(complaint("none/new"), HasSubstr("is in a folder that does not exist"));
    EXPECT_THAT(complaint("old/new"), HasSubstr("is in a folder that does not exist"));
    EXPECT_THAT(complaint_about_path("/dev/full").value_or(""), HasSubstr("no regular file"));
    EXPECT_EQ(complaint_about_path("beside"), std::nullopt) << "of where we are";
}

// A pipe is what a test may make without being root.
TEST(place_of_a_snapshot, that_is_something_else_stays_what_it_is)
{
    const unit::own_folder folder;
    const std::string path = folder.path() / "pipe";
    ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
    snapshot_writer writer{path};
    writer.put("x");
    EXPECT_THAT(writer.finish().value_or(""), HasSubstr("it is no regular file"));
    EXPECT_TRUE(std::filesystem::is_fifo(path));
}

class snapshots : public ::testing::Test {
protected:
    const unit::own_folder folder;
    const std::string path = folder.path() / "buckets";
    const limit::limit tokens = *limit::limit::make(1, hours{1}, 5);
    const limit::limit log = *limit::limit::sliding(5, hours{1}, 0);
    const limit::limit quota =
        *limit::limit::in_windows({.count = 5, .length = hours{24}, .capacity = 5});
    const limit::limit places = *limit::limit::in_flight(5, seconds{10});
    const limit::penalty ban{.after = 2, .within = hours{1}, .ban = hours{1}, .max_ban = hours{1}};

    static charge of(const limit::limit& l, std::string_view bucket, std::int64_t cost = 1)
    {
        return {
            .limit_name = "l", .bucket_name = base::hashed_name{bucket}, .limit = &l, .cost = cost};
    }

    // Of the answer to a look.
    static limit::decision seen(memory_store& s, const charge& c, base::instant at = base::now())
    {
        answer a;
        EXPECT_TRUE(s.decide(intent::look, {&c, 1}, at, a));
        return a.decisions()[0];
    }

    static bool takes(memory_store& s, const charge& c)
    {
        answer a;
        return s.take({&c, 1}, base::now(), a) && a.admitted;
    }

    std::string complaint()
    {
        memory_store s{{.max_buckets = 10}};
        const auto read = restore_snapshot(s, path);
        EXPECT_TRUE(read && (read->complaint.empty() || s.size() == 0));
        return read ? read->complaint : "";
    }
};

TEST_F(snapshots, keep_what_each_kind_of_bucket_owes)
{
    memory_store before{{.max_buckets = 100}};
    const std::vector<charge> all{
        of(tokens, "tokens", 3), of(log, "log", 3), of(quota, "quota", 3), of(places, "places", 3)};
    for (const charge& c : all) {
        ASSERT_TRUE(takes(before, c));
    }
    ASSERT_TRUE(takes(before, of(log, "log", 1)));
    charge punished = of(tokens, "punished", 5);
    punished.penalty = &ban;
    ASSERT_TRUE(takes(before, punished));
    EXPECT_FALSE(takes(before, punished));
    EXPECT_FALSE(takes(before, punished));
    const charge by_operator = of(quota, "by hand");
    const limit::correction ban_it{
        .what = limit::correction::kind::ban, .of = {.held = base::duration{hours{1}}.count()}};
    ASSERT_TRUE(before.correct(by_operator, ban_it, base::now()));
    ASSERT_EQ(save_snapshot(before, path), std::nullopt);

    memory_store after{{.max_buckets = 100}};
    const auto read = restore_snapshot(after, path);
    ASSERT_TRUE(read);
    EXPECT_EQ(read->lost, 0U);
    EXPECT_EQ(read->buckets, 6U) << "tokens, log, quota, one with its bans, and a ban by hand";
    for (const charge& c : {all[0], all[1], all[2]}) {
        const limit::decision was = seen(before, c);
        const limit::decision is = seen(after, c);
        EXPECT_EQ(is.remaining, was.remaining);
        EXPECT_LT(std::chrono::abs(is.reset_after - was.reset_after), seconds{1});
    }
    EXPECT_EQ(seen(after, of(log, "log")).remaining, 1);
    EXPECT_EQ(seen(after, of(places, "places")).remaining, 5) << "they ended with the process";
    EXPECT_TRUE(seen(after, punished).banned);
    punished.penalty = nullptr;
    EXPECT_FALSE(seen(after, punished).banned) << "the ban was of the penalty";
    EXPECT_TRUE(seen(after, by_operator).banned);
    EXPECT_FALSE(takes(after, by_operator));
}

TEST_F(snapshots, count_the_time_between)
{
    memory_store before{{.max_buckets = 100}};
    ASSERT_TRUE(takes(before, of(tokens, "x", 5)));
    ASSERT_TRUE(takes(before, of(log, "y", 5)));
    snapshot_writer to{path};
    before.save(to, base::now(), in_flight::left_out);
    ASSERT_EQ(to.finish(), std::nullopt);
    for (const int passed : {0, 2, 6}) {
        memory_store after{{.max_buckets = 100}};
        auto from = snapshot_reader::open(path);
        // A clock that begins anew, as after a restart of the machine.
        const base::instant now{seconds{5}};
        EXPECT_EQ(after.restore(*from.file, now, hours{passed}), 0U);
        EXPECT_FALSE(from.file->damaged());
        EXPECT_EQ(seen(after, of(tokens, "x"), now).remaining, std::min(passed, 5));
        EXPECT_EQ(seen(after, of(log, "y"), now).remaining, passed == 0 ? 0 : 5);
        EXPECT_EQ(after.size(), passed == 0 ? 2U : passed == 2 ? 1U : 0U);
    }
}

// Windows that are not aligned begin at moments of the process's own clock.
TEST_F(snapshots, keep_where_windows_begin)
{
    for (int client = 0; client < 50; ++client) {
        const std::string name = std::to_string(client);
        memory_store before{{.max_buckets = 100}};
        ASSERT_TRUE(takes(before, of(quota, name, 5)));
        const auto was = seen(before, of(quota, name)).reset_after;
        snapshot_writer to{path};
        before.save(to, base::now(), in_flight::left_out);
        ASSERT_EQ(to.finish(), std::nullopt);
        memory_store after{{.max_buckets = 100}};
        auto from = snapshot_reader::open(path);
        const base::instant now{seconds{12'345}};
        const base::duration passed = was / 2;
        EXPECT_EQ(after.restore(*from.file, now, passed), 0U);
        EXPECT_EQ(seen(after, of(quota, name), now).remaining, 0) << client;
        EXPECT_LT(
            std::chrono::abs(seen(after, of(quota, name), now).reset_after - (was - passed)),
            seconds{1}
        ) << client;
        EXPECT_EQ(seen(after, of(quota, name), now + was - passed + seconds{1}).remaining, 5);
    }
}

TEST_F(snapshots, of_clients_that_share_are_kept)
{
    memory_store before{{.max_buckets = 1}};
    ASSERT_TRUE(takes(before, of(tokens, "first")));
    ASSERT_TRUE(takes(before, of(tokens, "other", 4)));
    ASSERT_EQ(save_snapshot(before, path), std::nullopt);
    memory_store after{{.max_buckets = 1}};
    ASSERT_TRUE(restore_snapshot(after, path));
    EXPECT_EQ(seen(after, of(tokens, "other")).remaining, 1);
    EXPECT_EQ(seen(after, of(tokens, "first")).remaining, 4);
}

TEST_F(snapshots, say_how_many_found_no_room)
{
    memory_store before{{.max_buckets = 100}};
    for (int i = 0; i < 50; ++i) {
        ASSERT_TRUE(takes(before, of(tokens, std::to_string(i))));
    }
    ASSERT_EQ(save_snapshot(before, path), std::nullopt);
    memory_store after{{.max_buckets = 20}};
    EXPECT_EQ(restore_snapshot(after, path)->lost, 30U);
    EXPECT_EQ(after.size(), 20U);
}

TEST_F(snapshots, that_are_damaged_anywhere_are_refused)
{
    memory_store before{{.max_buckets = 100}};
    ASSERT_TRUE(takes(before, of(tokens, "x")));
    ASSERT_TRUE(takes(before, of(log, "y")));
    ASSERT_EQ(save_snapshot(before, path), std::nullopt);
    std::ifstream in{path, std::ios::binary};
    const std::string good{std::istreambuf_iterator<char>{in}, {}};
    const auto put = [this](const std::string& bytes) {
        std::ofstream{path, std::ios::binary} << bytes;
    };
    for (std::size_t i = 0; i < good.size(); ++i) {
        std::string bad = good;
        bad[i] = static_cast<char>(bad[i] ^ 1);
        put(bad);
        EXPECT_THAT(complaint(), HasSubstr("checksum")) << i;
        put(good.substr(0, i));
        EXPECT_NE(complaint(), "") << i;
    }
    put(good);
    EXPECT_EQ(complaint(), "");
}

TEST_F(snapshots, are_written_whole_or_not_at_all)
{
    memory_store s{{.max_buckets = 100}};
    EXPECT_EQ(restore_snapshot(s, path), std::nullopt) << "there is none yet";
    ASSERT_EQ(save_snapshot(s, path), std::nullopt);

    struct stat about {};

    ASSERT_EQ(::stat(path.c_str(), &about), 0);
    EXPECT_EQ(about.st_mode & 0777U, 0600U) << "it has a secret key";
    EXPECT_FALSE(std::filesystem::exists(path + ".new"));
    EXPECT_THAT(save_snapshot(s, "/nowhere/buckets").value(), HasSubstr("No such file"));
    {
        snapshot_writer unfinished{path};
        unfinished.put("half");
    }
    EXPECT_EQ(complaint(), "") << "the old one is still there";
    EXPECT_FALSE(std::filesystem::exists(path + ".new"));
    const std::string other = path + ".folder";
    std::filesystem::create_directories(other + "/x");
    EXPECT_THAT(save_snapshot(s, other).value(), HasSubstr("it is a folder"));
}

}  // namespace memory_snapshot_test
}  // namespace gateway::store
