#include "gateway/http/trace_parent.hpp"

#include <gtest/gtest.h>

#include <string>

namespace gateway::http {
namespace trace_parent_test {

const std::string good = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

TEST(trace_parent, of_version_0_has_four_parts_and_nothing_more)
{
    EXPECT_TRUE(is_trace_parent(good));
    EXPECT_TRUE(is_trace_parent("00-00000000000000000000000000000001-0000000000000001-ff"));
    for (const std::string& bad :
         {good + "-", good + "-00", good + "0", " " + good, std::string{}}) {
        EXPECT_FALSE(is_trace_parent(bad)) << bad;
    }
    EXPECT_FALSE(is_trace_parent("00-00000000000000000000000000000000-b7ad6b7169203331-01"));
    EXPECT_FALSE(is_trace_parent("00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01"));
}

TEST(trace_parent, of_a_later_version_may_go_on_behind_a_dash)
{
    const std::string rest = good.substr(2);
    EXPECT_TRUE(is_trace_parent("01" + rest));
    EXPECT_TRUE(is_trace_parent("fe" + rest + "-anything"));
    EXPECT_FALSE(is_trace_parent("fe" + rest + "0"));
    EXPECT_FALSE(is_trace_parent("ff" + rest));
}

TEST(trace_parent, is_none_with_any_byte_less_or_of_another_kind)
{
    for (std::size_t i = 0; i < good.size(); ++i) {
        EXPECT_FALSE(is_trace_parent(good.substr(0, i))) << i;
        for (const char other : {'A', 'g', '_', ' ', '\x80'}) {
            std::string bad = good;
            bad[i] = other;
            EXPECT_FALSE(is_trace_parent(bad)) << bad;
        }
    }
}

TEST(trace_parent, that_is_made_is_well_formed_whatever_the_numbers)
{
    for (const std::uint64_t n : {std::uint64_t{0}, std::uint64_t{0xabc}, ~std::uint64_t{0}}) {
        const trace_parent_text made = make_trace_parent(n, n, n);
        EXPECT_TRUE(is_trace_parent({made.data(), made.size()}));
    }
    const trace_parent_text made = make_trace_parent(0x1234, 0x5678, 0x9abd);
    EXPECT_EQ(
        std::string(made.data(), made.size()),
        "00-00000000000012350000000000005678-0000000000009abd-00"
    );
}

TEST(trace_parent, that_is_parsed_and_made_again_is_the_same)
{
    for (const auto* text :
         {"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
          "00-00000000000000000000000000000001-0000000000000001-ff"}) {
        const trace_parent_parts parts = parse_trace_parent(text);
        const trace_parent_text made = make_trace_parent(parts.trace, parts.parent, parts.flags);
        EXPECT_EQ(std::string(made.data(), made.size()), text);
    }
    const trace_parent_parts later =
        parse_trace_parent("fe-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more");
    EXPECT_EQ(later.trace, (trace_id{0x0af7651916cd43dd, 0x8448eb211c80319c}));
    EXPECT_EQ(later.parent, 0xb7ad6b7169203331);
    EXPECT_EQ(later.flags, sampled_flag);
}

}  // namespace trace_parent_test
}  // namespace gateway::http
