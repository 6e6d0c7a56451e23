#include "gateway/http2/preface.hpp"

#include <gtest/gtest.h>

#include <string>

namespace gateway::http2 {
namespace {

using verdict = preface::verdict;

TEST(Preface, IsRecognisedHoweverItIsSplit)
{
    const std::string_view all = preface::text;
    for (std::size_t first = 0; first < all.size(); ++first) {
        for (std::size_t second = first; second < all.size(); ++second) {
            preface p;
            EXPECT_EQ(p.read(all.substr(0, first)), verdict::incomplete);
            EXPECT_EQ(p.read(all.substr(first, second - first)), verdict::incomplete);
            EXPECT_EQ(p.before(), all.substr(0, second));
            EXPECT_EQ(p.read(std::string(all.substr(second)) + "more"), verdict::http2);
            EXPECT_EQ(p.before(), all.substr(0, second));
        }
    }
}

TEST(Preface, IsNothingElse)
{
    const std::string_view all = preface::text;
    for (std::size_t at = 0; at < all.size(); ++at) {
        std::string other(all);
        other[at] = static_cast<char>(other[at] ^ 1);
        for (std::size_t split = 0; split <= at; ++split) {
            preface p;
            EXPECT_EQ(p.read(other.substr(0, split)), verdict::incomplete);
            EXPECT_EQ(p.read(other.substr(split)), verdict::other);
            EXPECT_EQ(p.before(), all.substr(0, split));
        }
    }
}

}  // namespace
}  // namespace gateway::http2
