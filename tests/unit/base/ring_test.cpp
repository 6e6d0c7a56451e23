#include "gateway/base/ring.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <string>

namespace gateway::base {
namespace ring_test {

TEST(ring, gives_out_what_went_in_however_often_it_has_turned)
{
    constexpr std::size_t capacity = 7;
    ring<int> numbers{capacity};
    std::deque<int> expected;
    int number = 0;
    for (std::size_t round = 0; round < 50; ++round) {
        const std::size_t level = round * 5 % (capacity + 1);
        while (numbers.size() < level) {
            expected.push_back(++number);
            numbers.push() = number;
        }
        while (numbers.size() > level) {
            EXPECT_EQ(numbers.front(), expected.front());
            expected.pop_front();
            numbers.pop();
        }
        EXPECT_EQ(numbers.full(), level == capacity);
        EXPECT_EQ(numbers.empty(), level == 0);
        for (std::size_t i = 0; i < level; ++i) {
            EXPECT_EQ(numbers[i], expected[i]);
        }
    }
}

TEST(ring, keeps_its_places_and_their_memory)
{
    ring<std::string> texts{2};
    std::string* const first = &texts.push();
    first->assign(1000, 'x');
    texts.push();
    EXPECT_EQ(&texts.front(), first);
    texts.pop();
    EXPECT_EQ(&texts.push(), first);
    EXPECT_EQ(first->size(), 1000U);
}

}  // namespace ring_test
}  // namespace gateway::base
