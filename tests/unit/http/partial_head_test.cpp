#include "gateway/http/input/partial_head.hpp"

#include "tests/unit/http/heads.hpp"

#include <functional>
#include <random>

namespace gateway::http {
namespace partial_head_test {

using testing::parse;
using testing::state;

constexpr response_bounds bounds;

const std::string good =
    "HTTP/1.1 200 OK\r\nConnection: close, x\r\nTransfer-Encoding: chunked\r\nX-A: \t b \r\n\r\n";

// Feeds `bytes` in pieces until the parser decides, and gives how often it had to be asked.
int questions(std::string_view bytes, const std::function<std::size_t()>& next_size)
{
    partial_head head;
    response_head out;
    int asked = 0;
    for (std::size_t at = 0; at < bytes.size();) {
        const std::string_view piece = bytes.substr(at, next_size());
        at += piece.size();
        const bool worth_asking = head.append(piece, bounds);
        EXPECT_EQ(head.text(), bytes.substr(0, at));
        asked += worth_asking ? 1 : 0;
        const parse_result truth = parse(head.text(), out);
        if (truth.is != state::incomplete) {
            EXPECT_TRUE(worth_asking) << "after " << at << " bytes of: " << bytes;
            return asked;
        }
    }
    return asked;
}

TEST(partial_head, nothing_the_parser_would_say_is_missed)
{
    std::mt19937 random(20260101);
    const std::string_view spice = "\r\n :\t/0159.-,;aZ_\x7f\x80#?*";
    for (int round = 0; round < 4000; ++round) {
        std::string bytes = good;
        for (auto changes = random() % 4; changes > 0; --changes) {
            const std::size_t at = random() % bytes.size();
            if (random() % 2 == 0) {
                bytes[at] = spice[random() % spice.size()];
            } else {
                bytes.erase(at, 1 + random() % 12);
            }
        }
        const std::size_t most = 1 + random() % 20;
        questions(bytes, [&] { return 1 + random() % most; });
    }
}

TEST(partial_head, the_parser_is_asked_a_few_times_however_small_the_pieces)
{
    const auto one_byte = [] { return std::size_t{1}; };
    const int few = questions(good, one_byte);
    EXPECT_LE(few, 16);
    std::string longer = "HTTP/1.1 200 OK\r\nX-Long-" + std::string(5000, 'n') + ": ";
    longer += std::string(5000, 'v') + "\r\n";
    for (int i = 0; i < 200; ++i) {
        longer += "A: b\r\n";
    }
    partial_head head;
    int asked = 0;
    for (const char c : longer + "\r\n") {
        asked += head.append({&c, 1}, bounds) ? 1 : 0;
    }
    EXPECT_EQ(asked, few);
}

TEST(partial_head, the_bounds_of_the_parser_end_it)
{
    partial_head bytes;
    bytes.append("HTTP/1.1 200 OK\r\nA:", bounds);
    while (bytes.text().size() + 1000 < bounds.max_header_bytes) {
        EXPECT_FALSE(bytes.append(std::string(1000, 'x'), bounds));
    }
    EXPECT_TRUE(bytes.append(std::string(1000, 'x'), bounds));

    partial_head lines;
    lines.append("HTTP/1.1 200 OK\r\n", bounds);
    for (std::size_t i = 0; i < bounds.max_headers; ++i) {
        EXPECT_FALSE(lines.append("A: b\r\n", bounds));
    }
    EXPECT_TRUE(lines.append("A", bounds));
}

TEST(partial_head, is_as_new_when_cleared)
{
    partial_head head;
    EXPECT_TRUE(head.empty());
    for (int i = 0; i < 3; ++i) {
        EXPECT_TRUE(head.append("HTTP/1.1 200 OK\r\n", bounds));
        EXPECT_FALSE(head.append("A: b\r", bounds));
        EXPECT_FALSE(head.append("\n\r", bounds));
        EXPECT_TRUE(head.append("\n", bounds));
        i == 1 ? head.release_memory() : head.clear();
        EXPECT_TRUE(head.empty());
    }
}

}  // namespace partial_head_test
}  // namespace gateway::http
