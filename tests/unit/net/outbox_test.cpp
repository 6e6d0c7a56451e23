#include "gateway/net/outbox.hpp"

#include <gtest/gtest.h>

#include <random>
#include <utility>
#include <vector>

namespace gateway::net {
namespace outbox_test {

using left = std::vector<std::pair<const sender*, std::string>>;

class recorder final : public sender {
public:
    explicit recorder(left& all) : all_(all) {}

    void send_gathered(std::string_view bytes) override { all_.emplace_back(this, bytes); }

private:
    left& all_;
};

class outboxes : public ::testing::Test {
protected:
    left all;
    recorder one{all};
    recorder other{all};
    outbox box;
};

TEST_F(outboxes, take_only_while_a_turn_lasts)
{
    EXPECT_FALSE(box.take(one, "a", "b"));
    box.open();
    EXPECT_TRUE(box.take(one, "a", "b"));
    EXPECT_TRUE(all.empty());
    box.close();
    EXPECT_EQ(all, (left{{&one, "ab"}}));
    EXPECT_FALSE(box.take(one, "a", "b"));
}

TEST_F(outboxes, let_all_leave_in_order_and_join_what_one_says_in_a_row)
{
    box.open();
    EXPECT_TRUE(box.take(one, "1", "2"));
    EXPECT_TRUE(box.take(one, "3", {}));
    EXPECT_TRUE(box.take(other, "4", {}));
    EXPECT_TRUE(box.take(one, {}, "5"));
    box.flush();
    const left first{{&one, "123"}, {&other, "4"}, {&one, "5"}};
    EXPECT_EQ(all, first);
    box.close();
    EXPECT_EQ(all, first);
}

TEST_F(outboxes, are_bounded)
{
    box.open();
    const std::string large(outbox::max_send_bytes, 'x');
    EXPECT_TRUE(box.take(one, large, {}));
    EXPECT_FALSE(box.take(one, large, "x"));
    EXPECT_TRUE(all.empty());
    for (std::size_t i = 1; i * large.size() < outbox::max_bytes; ++i) {
        EXPECT_TRUE(box.take(one, large, {}));
    }
    EXPECT_TRUE(all.empty());
    EXPECT_TRUE(box.take(other, "x", {}));
    EXPECT_EQ(all.size(), 1U) << "what was there has left for it";
    EXPECT_EQ(all.back().second.size(), outbox::max_bytes);
    box.flush();
    all.clear();
    for (std::size_t i = 0; i < outbox::max_sends; ++i) {
        EXPECT_TRUE(box.take(i % 2 == 0 ? one : other, "x", {}));
    }
    EXPECT_TRUE(all.empty());
    EXPECT_TRUE(box.take(one, "y", {}));
    EXPECT_EQ(all.size(), outbox::max_sends);
}

TEST_F(outboxes, lose_and_reorder_nothing)
{
    std::mt19937 random{3};
    std::string said_by_one;
    std::string said_by_other;
    for (int turn = 0; turn < 500; ++turn) {
        box.open();
        for (std::size_t n = random() % 200; n > 0; --n) {
            const bool first = random() % 3 == 0;
            const std::string a(random() % 900, static_cast<char>('a' + random() % 26));
            const std::string b(random() % 9, 'B');
            ASSERT_TRUE(box.take(first ? one : other, a, b));
            (first ? said_by_one : said_by_other) += a + b;
        }
        box.close();
    }
    std::string left_of_one;
    std::string left_of_other;
    for (const auto& [from, bytes] : all) {
        (from == &one ? left_of_one : left_of_other) += bytes;
    }
    EXPECT_EQ(left_of_one, said_by_one);
    EXPECT_EQ(left_of_other, said_by_other);
}

}  // namespace outbox_test
}  // namespace gateway::net
