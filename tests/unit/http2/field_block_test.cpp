#include "gateway/http2/field_block.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace gateway::http2 {
namespace {

using pairs = std::vector<std::pair<std::string, std::string>>;

pairs fields_of(int status, std::string lines)
{
    const field_block block(status, lines);
    pairs found;
    for (std::size_t i = 0; i < block.size(); ++i) {
        const nghttp2_nv& f = block.data()[i];
        found.emplace_back(
            std::string(reinterpret_cast<const char*>(f.name), f.namelen),
            std::string(reinterpret_cast<const char*>(f.value), f.valuelen)
        );
    }
    return found;
}

TEST(FieldBlock, HasTheStatusFirstAndNamesInLowerCase)
{
    EXPECT_EQ(
        fields_of(204, "Date: now\r\nX-Foo:  Bar baz \r\nx-empty:\r\n\r\n"),
        (pairs{{":status", "204"}, {"date", "now"}, {"x-foo", "Bar baz"}, {"x-empty", ""}})
    );
}

TEST(FieldBlock, HasNoStatusForTrailers)
{
    EXPECT_EQ(fields_of(0, "Grpc-Status: 0\r\n"), (pairs{{"grpc-status", "0"}}));
}

TEST(FieldBlock, LeavesOutWhatConcernsAConnection)
{
    EXPECT_EQ(
        fields_of(
            0,
            "Connection: close\r\nKeep-Alive: 1\r\nProxy-Connection: x\r\nTE: trailers\r\n"
            "Transfer-Encoding: chunked\r\nUpgrade: h2c\r\nx-a: 1\r\n"
        ),
        (pairs{{"x-a", "1"}})
    );
}

TEST(FieldBlock, TakesAValueWithColons)
{
    EXPECT_EQ(fields_of(0, "location: http://x:1/\r\n"), (pairs{{"location", "http://x:1/"}}));
}

}  // namespace
}  // namespace gateway::http2
