#include "gateway/store/redis/cluster/slot.hpp"

#include "gateway/store/redis/cluster/slot_map.hpp"
#include "gateway/store/redis/protocol/tree.hpp"

#include <gtest/gtest.h>

#include <string>

namespace gateway::store::redis {
namespace slot_test {

std::string name_of(std::string_view limit, std::string_view client)
{
    std::string bytes(4, '\0');
    bytes[0] = static_cast<char>(limit.size());
    return bytes.append(limit).append(client);
}

TEST(slot, is_that_of_the_cluster_specification)
{
    EXPECT_EQ(slot_of("123456789"), 0x31c3);
    EXPECT_EQ(slot_of("foo"), 12182);
    EXPECT_EQ(slot_of(""), 0);
}

TEST(slot, has_some_tag)
{
    for (const int number : {0, 1, 8191, 16383}) {
        const auto slot = static_cast<std::uint16_t>(number);
        EXPECT_EQ(slot_of(tag_in(slot)), slot);
    }
}

TEST(tag, is_one_for_all_limits_of_a_client)
{
    const auto tag = [](std::string_view limit, const std::string& name) {
        return tag_of({.limit_name = limit, .bucket_name = base::hashed_name{name}});
    };
    const std::string alice = tag("short", name_of("short", "alice"));
    EXPECT_EQ(alice.size(), 8U);
    EXPECT_EQ(alice, tag("longer", name_of("longer", "alice")));
    EXPECT_NE(alice, tag("short", name_of("short", "bob")));
    EXPECT_NE(alice, tag("short", name_of("other", "alice")));
    EXPECT_EQ(tag("l", "x"), tag("m", "x"));
    EXPECT_EQ(tagged("gw:", "12ab"), "gw:{12ab}");
}

std::optional<slot_map> parsed(const std::string& bytes)
{
    tree_reader reader;
    reader.feed(bytes);
    const tree r = reader.read();
    EXPECT_NE(r, nullptr) << bytes;
    return r == nullptr ? std::nullopt : slot_map::read(*r, {"asked", "7000", {}});
}

// Slots from first to last at that node, which is 127.0.0.1 unless `host` is the words of it.
std::string range(int first, int last, int port, const std::string& host = "$9\r\n127.0.0.1\r\n")
{
    return "*3\r\n:" + std::to_string(first) + "\r\n:" + std::to_string(last) + "\r\n*3\r\n" +
           host + ":" + std::to_string(port) + "\r\n$2\r\nid\r\n";
}

TEST(slot_map, is_read_from_ranges)
{
    auto map = parsed("*3\r\n" + range(0, 99, 1) + range(200, 16383, 2) + range(100, 199, 1));
    ASSERT_TRUE(map);
    EXPECT_EQ(map->nodes().size(), 2U);
    EXPECT_TRUE(map->is_whole());
    EXPECT_EQ(map->owner(0), 0U);
    EXPECT_EQ(map->owner(150), 0U);
    EXPECT_EQ(map->owner(200), 1U);
    EXPECT_EQ(map->slot_at({"127.0.0.1", "2", {}}), 200);
    EXPECT_EQ(map->slot_at({"127.0.0.1", "3", {}}), std::nullopt);
    map->set_owner(150, {"h", "3", {}});
    EXPECT_EQ(map->owner(150), 2U);
    EXPECT_EQ(map->nodes()[2].host, "h");
}

TEST(slot_map, knows_a_node_that_names_itself_not_and_one_that_nobody_knows)
{
    for (const char* host : {"$0\r\n\r\n", "$-1\r\n"}) {
        const auto map = parsed("*1\r\n" + range(5, 6, 1, host));
        ASSERT_TRUE(map);
        EXPECT_EQ(map->nodes()[0].host, "asked");
        EXPECT_FALSE(map->is_whole());
        EXPECT_EQ(map->owner(4), std::nullopt);
    }
    const auto map = parsed("*1\r\n" + range(5, 6, 1, "$1\r\n?\r\n"));
    ASSERT_TRUE(map);
    EXPECT_EQ(map->owner(5), std::nullopt);
}

TEST(slot_map, is_none_from_anything_else)
{
    for (const std::string& bytes : std::vector<std::string>{
             "+OK\r\n",
             "*1\r\n:1\r\n",
             "*1\r\n*2\r\n:1\r\n:2\r\n",
             "*1\r\n*3\r\n:1\r\n:2\r\n:3\r\n",
             "*1\r\n*3\r\n:1\r\n:2\r\n*0\r\n",
             "*1\r\n*3\r\n:1\r\n:2\r\n*2\r\n:1\r\n:2\r\n",
             "*1\r\n" + range(-1, 5, 1),
             "*1\r\n" + range(0, 16384, 1),
             "*2\r\n" + range(0, 16383, 1) + range(5, 5, 1),
             "*1\r\n*3\r\n:1\r\n:2\r\n*2\r\n$1\r\nh\r\n$1\r\n1\r\n"}) {
        EXPECT_FALSE(parsed(bytes)) << bytes;
    }
    std::string many = "*600\r\n";
    for (int i = 0; i < 600; ++i) {
        many += range(i, i, i + 1);
    }
    EXPECT_FALSE(parsed(many));
}

TEST(tree_reader, reads_nothing_that_announces_too_much)
{
    const auto times = [](std::size_t count, std::string_view text) {
        std::string all;
        for (std::size_t i = 0; i < count; ++i) {
            all += text;
        }
        return all;
    };
    const std::string most = std::to_string(tree_reader::max_elements);
    for (const std::string& bytes : std::vector<std::string>{
             "*2000000000\r\n",
             "*" + std::to_string(tree_reader::max_elements + 1) + "\r\n",
             "*1\r\n*" + most + "\r\n",
             "*3\r\n*100000\r\n" + times(100'000, ":1\r\n") + "*200000\r\n",
             times(tree_reader::max_depth + 1, "*1\r\n"),
             times(100'000, "*1\r\n")}) {
        tree_reader reader;
        reader.feed(bytes);
        EXPECT_EQ(reader.read(), nullptr);
        EXPECT_TRUE(reader.garbage()) << bytes.substr(0, 40);
    }
    for (const std::string& bytes :
         {"*" + most + "\r\n", times(tree_reader::max_depth, "*1\r\n") + ":1\r\n"}) {
        tree_reader reader;
        reader.feed(bytes);
        const bool complete = reader.read() != nullptr;
        EXPECT_EQ(complete, bytes.ends_with(":1\r\n"));
        EXPECT_FALSE(reader.garbage());
    }
}

TEST(tree_reader, keeps_no_more_than_its_bound)
{
    tree_reader reader;
    reader.feed(std::string_view{"$500000000\r\n"});
    const std::string kilobyte(1024, 'x');
    int fed = 0;
    while (!reader.garbage() && fed < 2000) {
        reader.feed(kilobyte);
        ++fed;
    }
    EXPECT_EQ(reader.read(), nullptr);
    EXPECT_LE(fed, 1024);
    tree_reader other;
    other.feed(std::string_view{"HTTP/1.1 400\r\n"});
    EXPECT_EQ(other.read(), nullptr);
    EXPECT_TRUE(other.garbage());
}

TEST(redirection, is_read_from_errors)
{
    using kind = redirection::kind;
    const auto moved = redirection_in("MOVED 3999 127.0.0.1:6381");
    ASSERT_TRUE(moved);
    EXPECT_EQ(moved->what, kind::moved);
    EXPECT_EQ(moved->slot, 3999);
    EXPECT_EQ(moved->to, (net::server_address{"127.0.0.1", "6381", {}}));
    const auto ask = redirection_in("ASK 0 ::1:7000");
    ASSERT_TRUE(ask);
    EXPECT_EQ(ask->what, kind::ask);
    EXPECT_EQ(ask->to.host, "::1");
    ASSERT_TRUE(redirection_in("MOVED 1 :6381"));
    EXPECT_EQ(redirection_in("MOVED 1 :6381")->to.host, "");
    EXPECT_EQ(redirection_in("TRYAGAIN Multiple keys request")->what, kind::try_again);
    for (const char* none :
         {"",
          "MOVED",
          "MOVED 1",
          "MOVED 16384 h:1",
          "MOVED x h:1",
          "MOVED 1 h",
          "MOVED 1 h:x",
          "MOVED 1 h:65536",
          "MOVEDX 1 h:1",
          "CLUSTERDOWN",
          "ERR x"}) {
        EXPECT_FALSE(redirection_in(none)) << none;
    }
}

}  // namespace slot_test
}  // namespace gateway::store::redis
