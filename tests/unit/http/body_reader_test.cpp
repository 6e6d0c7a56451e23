#include "gateway/http/input/body_reader.hpp"

#include "tests/unit/http/naive_chunks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

namespace gateway::http {
namespace body_reader_test {

using testing::naive_body;
using testing::naive_decode;

constexpr framing chunked{framing::kind::chunked, 0};

struct outcome {
    std::string content;
    std::string trailers;
    std::size_t consumed = 0;
    bool done = false;
    bool malformed = false;

    bool operator==(const outcome&) const = default;
};

// Feeds the bytes in parts of the given sizes, the rest in one; stops where the body does.
outcome read_in_parts(framing f, const std::string& bytes, const std::vector<std::size_t>& parts)
{
    body_reader reader(f);
    outcome all;
    std::size_t at = 0;
    for (std::size_t i = 0; at < bytes.size() && !all.malformed && !reader.done(); ++i) {
        const std::size_t n =
            i < parts.size() ? std::min(parts[i], bytes.size() - at) : bytes.size() - at;
        std::string part = bytes.substr(at, n);
        const body_reader::piece piece = reader.read(part);
        EXPECT_LE(piece.consumed, n);
        EXPECT_LE(piece.content.size(), piece.consumed);
        EXPECT_TRUE(
            piece.content.empty() ||
            (piece.content.data() >= part.data() &&
             piece.content.data() + piece.content.size() <= part.data() + n)
        );
        if (!piece.malformed && !reader.done()) {
            EXPECT_EQ(piece.consumed, n);
        }
        EXPECT_TRUE(piece.trailers.empty() || reader.done());
        all.trailers.append(piece.trailers);
        all.content.append(piece.content);
        all.consumed += piece.consumed;
        all.malformed = piece.malformed;
        at += n;
    }
    all.done = reader.done();
    return all;
}

outcome read_whole(framing f, const std::string& bytes)
{
    return read_in_parts(f, bytes, {});
}

std::vector<std::size_t> byte_by_byte(const std::string& bytes)
{
    return std::vector<std::size_t>(bytes.size(), 1);
}

// In one piece, in every two pieces, and byte by byte.
void expect_same_however_split(framing f, const std::string& bytes)
{
    const outcome whole = read_whole(f, bytes);
    for (std::size_t n = 1; n < bytes.size(); ++n) {
        ASSERT_EQ(read_in_parts(f, bytes, {n}), whole) << n << " bytes first of: " << bytes;
    }
    ASSERT_EQ(read_in_parts(f, bytes, byte_by_byte(bytes)), whole) << bytes;
}

void expect_malformed(const std::string& bytes)
{
    const outcome o = read_whole(chunked, bytes);
    EXPECT_TRUE(o.malformed) << bytes;
    EXPECT_FALSE(o.done) << bytes;
    expect_same_however_split(chunked, bytes);
}

void expect_content(
    const std::string& bytes,
    std::string_view content,
    std::size_t surplus = 0,
    std::string_view trailers = {}
)
{
    const outcome o = read_whole(chunked, bytes);
    EXPECT_TRUE(o.done) << bytes;
    EXPECT_FALSE(o.malformed) << bytes;
    EXPECT_EQ(o.content, content) << bytes;
    EXPECT_EQ(o.trailers, trailers) << bytes;
    EXPECT_EQ(o.consumed, bytes.size() - surplus) << bytes;
    expect_same_however_split(chunked, bytes);
}

TEST(body_reader, no_body_is_done_at_once_and_takes_nothing)
{
    for (const framing f : {framing{}, framing{framing::kind::length, 0}}) {
        body_reader reader(f);
        EXPECT_TRUE(reader.done());
        EXPECT_TRUE(reader.ends_at_close());
        std::string next = "GET";
        const auto piece = reader.read(next);
        EXPECT_EQ(piece.consumed, 0u);
        EXPECT_TRUE(piece.content.empty());
        EXPECT_FALSE(piece.malformed);
    }
}

TEST(body_reader, a_length_is_kept_to_the_byte)
{
    const std::string bytes = "hello, next";
    for (std::size_t length = 1; length <= bytes.size(); ++length) {
        const framing f{framing::kind::length, length};
        const outcome o = read_whole(f, bytes);
        EXPECT_EQ(o.content, bytes.substr(0, length));
        EXPECT_EQ(o.consumed, length);
        EXPECT_TRUE(o.done);
        expect_same_however_split(f, bytes);
    }
    body_reader reader({framing::kind::length, std::uint64_t{1} << 62});
    std::string some = "abc";
    EXPECT_EQ(reader.read(some).content, "abc");
    EXPECT_FALSE(reader.done());
    EXPECT_FALSE(reader.ends_at_close());
}

TEST(body_reader, a_body_until_close_is_everything_and_ends_only_there)
{
    body_reader reader({framing::kind::until_close, 0});
    std::string bytes = "0\r\n\r\n";
    EXPECT_EQ(reader.read(bytes).content, "0\r\n\r\n");
    EXPECT_FALSE(reader.done());
    EXPECT_TRUE(reader.ends_at_close());
}

TEST(body_reader, chunks_are_joined_and_their_framing_taken_off)
{
    expect_content("0\r\n\r\n", "");
    expect_content("5\r\nhello\r\n0\r\n\r\n", "hello");
    expect_content("5\r\nhello\r\n0\r\n\r\nGET / HTTP/1.1\r\n\r\n", "hello", 18);
    expect_content("1\r\na\r\n2\r\nbc\r\n3\r\n\r\n0\r\n000\r\n\r\n", "abc\r\n0");
    expect_content("a\r\n0123456789\r\n0A\r\n0123456789\r\n0\r\n\r\n", "01234567890123456789");
    expect_content(
        std::string(40, '0') + "5\r\nhello\r\n" + std::string(40, '0') + "\r\n\r\n", "hello"
    );
    expect_content("2\r\n\r\n\r\n0\r\n\r\n", "\r\n");
}

TEST(body_reader, extensions_are_dropped)
{
    expect_content("5;a\r\nhello\r\n0\r\n\r\n", "hello");
    expect_content("5;a=b;c=\"d;\\\" e\"\r\nhello\r\n0;x\r\n\r\n", "hello");
    expect_content("5 \t;\ta \t=\t b ;c\r\nhello\r\n0\r\n\r\n", "hello");
    expect_content("5;a=\"\"\t;b=\"\x80\xff\t\\\x80;=\"\r\nhello\r\n0\r\n\r\n", "hello");
}

TEST(body_reader, trailers_are_handed_out_as_they_came_however_split)
{
    for (const std::string lines :
         {"X-T: a\r\n",
          "a:\r\n",
          "X-T: a\r\nY:\r\nz:\t\x80\r\n",
          "Content-Length: 5\r\nHost: b\r\n"}) {
        expect_content("1\r\na\r\n0\r\n" + lines + "\r\nnext", "a", 4, lines);
        expect_content("0\r\n" + lines + "\r\n", "", 0, lines);
        expect_content("3\r\nabc\r\n2;x\r\nde\r\n000\r\n" + lines + "\r\n", "abcde", 0, lines);
    }
}

TEST(body_reader, trailers_that_come_at_once_are_not_copied)
{
    body_reader reader(chunked);
    std::string begin = "3\r\nabc\r\n0\r\n";
    EXPECT_TRUE(reader.read(begin).trailers.empty());
    std::string section = "X-T: a\r\nY: b\r\n\r\nnext";
    const auto piece = reader.read(section);
    EXPECT_EQ(piece.trailers, "X-T: a\r\nY: b\r\n");
    EXPECT_EQ(static_cast<const void*>(piece.trailers.data()), section.data());
    EXPECT_TRUE(reader.read(section).trailers.empty()) << "they are handed out once";
}

TEST(body_reader, a_section_that_turns_out_malformed_is_never_handed_out)
{
    const std::string bytes = "0\r\nX-T: a\r\n folded\r\n\r\n";
    for (std::size_t n = 0; n <= bytes.size(); ++n) {
        EXPECT_EQ(read_in_parts(chunked, bytes, {n, 1, 1, 1}).trailers, "");
    }
}

TEST(body_reader, anything_outside_the_chunk_grammar_is_malformed)
{
    for (const char* line :
         {"",
          "x",
          "0x5",
          "-5",
          "+5",
          " 5",
          "\t5",
          "5_0",
          "5,5",
          "5 5",
          "5 ",
          "5\t",
          "g",
          "5g",
          "5.",
          "\"5\"",
          "5=a",
          "5 a",
          "5\x0b",
          "5\x0c",
          "\x80",
          "5\x80",
          "5;a\x01",
          "5;a\x7f",
          "5\r",
          "5;a\r",
          "2\r\r;a",
          "5\n",
          "5;\n",
          "5;",
          "5; ",
          "5;;a",
          "5;a;",
          "5;a ",
          "5;a\t",
          "5;a b",
          "5;=b",
          "5;a=",
          "5;a= ",
          "5;a==b",
          "5;a=b ",
          "5;a=b c",
          "5;a=b=c",
          "5;\x80",
          "5;a=\x80",
          "5;\"a\"",
          "5;a=b\"c\"",
          "5;a=\"b",
          "5;a=\"b\\",
          "5;a=\"b\\\"",
          "5;a=\"b\"c",
          "5;a=\"b\" ",
          "5;a=\"\x01\"",
          "5;a=\"\\\x7f\"",
          "5;a=\"b\nc\"",
          "5 a;b",
          "5;a,b",
          "5;a=\"b\"=c",
          "5;a;=c",
          "5;a={b}",
          "5 =a"}) {
        expect_malformed(std::string(line) + "\r\nhello\r\n0\r\n\r\n");
    }
    for (const char* bytes :
         {"5\nhello\n0\n\n",
          "5\r\nhello0\r\n\r\n",
          "5\r\nhello\n0\r\n\r\n",
          "5\r\nhello\rx0\r\n\r\n",
          "5\r\nhell\r\n0\r\n\r\n",
          "5\r\nhello!\r\n0\r\n\r\n",
          "5\r\nhello\r\n\r\n0\r\n\r\n",
          "0\r\n\n",
          "0\r\n\rX",
          "0\r\nGET / HTTP/1.1\r\n\r\n",
          "0\r\nX-T : a\r\n\r\n",
          "0\r\nX-T: a\r\n b\r\n\r\n",
          "0\r\n: a\r\n\r\n",
          "0\r\nX-T\r\n\r\n",
          "0\r\nX-T: \x01\r\n\r\n",
          "0\r\nX-T: a\nY: b\r\n\r\n",
          "0\r\nX-T: a\rb\r\n\r\n",
          "0\r\nX\x80: a\r\n\r\n",
          "0\rX",
          "0\n\n",
          "1\r\na\r\n0\r\n \r\n"}) {
        expect_malformed(bytes);
    }
    expect_malformed(std::string("5;\0\r\n", 5));
}

// Every string of up to six of the bytes that matter, behind a size.
TEST(body_reader, extensions_are_judged_as_the_grammar_reads)
{
    const std::string_view bytes = ";=x\" \\\x01";
    int good = 0;
    for (std::size_t size = 0, count = 1; size <= 6; ++size, count *= bytes.size()) {
        for (std::size_t number = 0; number < count; ++number) {
            std::string extension;
            for (std::size_t rest = number; extension.size() < size; rest /= bytes.size()) {
                extension.push_back(bytes[rest % bytes.size()]);
            }
            const bool expected = testing::naive_extensions(extension);
            const outcome o = read_whole(chunked, "1" + extension + "\r\na\r\n0\r\n\r\n");
            ASSERT_EQ(o.done, expected) << extension;
            ASSERT_EQ(o.malformed, !expected) << extension;
            good += expected ? 1 : 0;
        }
    }
    EXPECT_GT(good, 100);
}

TEST(body_reader, a_chunk_size_is_below_two_to_the_63)
{
    for (const char* size :
         {"8000000000000000",
          "ffffffffffffffff",
          "10000000000000005",
          "100000000000000000000000000000005"}) {
        expect_malformed(std::string(size) + "\r\nhello");
    }
    for (const char* size : {"7fffffffffffffff", "00007FFFFFFFFFFFFFFF"}) {
        const outcome o = read_whole(chunked, std::string(size) + "\r\nhello");
        EXPECT_FALSE(o.malformed) << size;
        EXPECT_EQ(o.content, "hello") << size;
    }
}

TEST(body_reader, what_was_malformed_stays_malformed_and_is_never_done)
{
    for (std::string bytes : {"0\r\n\rX", "5\nhello", "0\r\n\n"}) {
        body_reader reader(chunked);
        EXPECT_TRUE(reader.read(bytes).malformed);
        EXPECT_FALSE(reader.done());
        EXPECT_FALSE(reader.ends_at_close());
        std::string good = "0\r\n\r\n";
        const auto again = reader.read(good);
        EXPECT_TRUE(again.malformed);
        EXPECT_EQ(again.consumed, 0u);
        EXPECT_TRUE(again.content.empty());
        EXPECT_TRUE(reader.read({}).malformed);
    }
}

TEST(body_reader, content_before_the_malformed_byte_is_given_out)
{
    const outcome o = read_whole(chunked, "3\r\nabc\r\n3\r\ndef!");
    EXPECT_TRUE(o.malformed);
    EXPECT_EQ(o.content, "abcdef");
    EXPECT_EQ(o.consumed, 14u);
}

TEST(body_reader, a_cut_body_is_neither_done_nor_malformed)
{
    const std::string bytes = "5;a\r\nhello\r\n00\r\nX: y\r\n\r\n";
    for (std::size_t n = 0; n < bytes.size(); ++n) {
        body_reader reader(chunked);
        std::string part = bytes.substr(0, n);
        EXPECT_FALSE(reader.read(part).malformed) << n;
        EXPECT_FALSE(reader.done()) << n;
        EXPECT_FALSE(reader.ends_at_close()) << n;
    }
}

TEST(body_reader, extensions_and_trailers_are_bounded)
{
    constexpr chunk_bounds usual;
    const auto extended = [](std::size_t n) { return "1;" + std::string(n, 'x') + "\r\na\r\n"; };
    const std::string end = "0\r\n\r\n";
    EXPECT_TRUE(read_whole(chunked, extended(usual.max_line_bytes - 2) + end).done);
    EXPECT_TRUE(read_whole(chunked, extended(usual.max_line_bytes - 1) + end).malformed);
    EXPECT_TRUE(
        read_whole(chunked, std::string(usual.max_line_bytes + 1, '0') + "\r\n\r\n").malformed
    );
    EXPECT_TRUE(read_whole(chunked, std::string(usual.max_line_bytes, '0') + "\r\n\r\n").done);
    std::string many;
    for (std::size_t i = 0; i < usual.max_extension_bytes / 1024; ++i) {
        many += extended(1023);
    }
    EXPECT_TRUE(read_whole(chunked, many + end).done);
    EXPECT_TRUE(read_whole(chunked, many + extended(1) + end).malformed);
    const auto trailer = [](std::size_t n) { return "0\r\nX:" + std::string(n, 'y') + "\r\n\r\n"; };
    EXPECT_TRUE(read_whole(chunked, trailer(usual.max_trailer_bytes - 6)).done);
    EXPECT_TRUE(read_whole(chunked, trailer(usual.max_trailer_bytes - 5)).malformed);
    std::string lines;
    for (std::size_t i = 0; i < usual.max_trailer_bytes; ++i) {
        lines += "a:\r\n";
    }
    EXPECT_TRUE(read_whole(chunked, "0\r\n" + lines + "\r\n").malformed);
}

TEST(body_reader, its_bounds_are_those_it_was_given)
{
    const auto is_done = [](std::string body, const chunk_bounds& bounds) {
        body_reader reader(chunked, bounds);
        reader.read(body);
        return reader.done();
    };
    const chunk_bounds small{.max_line_bytes = 4, .max_extension_bytes = 4, .max_trailer_bytes = 6};
    EXPECT_TRUE(is_done("1;xy\r\na\r\n0\r\n\r\n", small)) << "4 bytes of a line";
    EXPECT_FALSE(is_done("1;xyz\r\na\r\n0\r\n\r\n", small));
    EXPECT_TRUE(is_done("1;x\r\na\r\n1;y\r\na\r\n0\r\n\r\n", small)) << "4 of extensions";
    EXPECT_FALSE(is_done("1;x\r\na\r\n1;yz\r\na\r\n0\r\n\r\n", small));
    EXPECT_TRUE(is_done("0\r\na:\r\n\r\n", small)) << "6 of trailers";
    EXPECT_FALSE(is_done("0\r\na:b\r\n\r\n", small));
}

constexpr const char* random_trailers = "X-T: a\r\nY:\r\n";

std::string random_chunked_body(std::mt19937& random, std::string& content)
{
    std::string bytes;
    for (auto chunks = random() % 6; chunks > 0; --chunks) {
        std::string data(1 + random() % 40, ' ');
        for (char& c : data) {
            c = static_cast<char>(random());
        }
        char size[20];
        std::snprintf(size, sizeof size, random() % 2 == 0 ? "%zx" : "%03zX", data.size());
        bytes +=
            std::string(size) + (random() % 4 == 0 ? " ;x=\"y\"" : "") + "\r\n" + data + "\r\n";
        content += data;
    }
    return bytes + "0\r\n" + (random() % 3 == 0 ? random_trailers : "") + "\r\n";
}

TEST(body_reader, random_bodies_come_out_as_they_went_in_however_split)
{
    std::mt19937 random(20240609);
    for (int round = 0; round < 3000; ++round) {
        std::string content;
        const std::string bytes = random_chunked_body(random, content);
        std::vector<std::size_t> parts;
        for (std::size_t total = 0; total < bytes.size(); total += parts.back()) {
            parts.push_back(1 + random() % 17);
        }
        const outcome o = read_in_parts(chunked, bytes + "surplus", parts);
        ASSERT_TRUE(o.done);
        ASSERT_EQ(o.content, content);
        ASSERT_TRUE(o.trailers.empty() || o.trailers == random_trailers) << o.trailers;
        ASSERT_EQ(o.consumed, bytes.size());
    }
}

TEST(body_reader, damaged_bodies_are_judged_as_a_naive_reader_judges_them)
{
    std::mt19937 random(20240610);
    const std::string_view spice = "\r\n :;0159aF\"_\x7f\x80x";
    int whole = 0;
    int malformed = 0;
    for (int round = 0; round < 20000; ++round) {
        std::string ignored;
        std::string bytes = random_chunked_body(random, ignored);
        for (auto changes = random() % 3; changes > 0; --changes) {
            const std::size_t at = random() % bytes.size();
            if (random() % 2 == 0) {
                bytes[at] = spice[random() % spice.size()];
            } else {
                bytes.erase(at, 1 + random() % 3);
            }
        }
        const naive_body expected = naive_decode(bytes);
        const outcome o = read_in_parts(chunked, bytes, {1 + random() % 20, 1 + random() % 20});
        ASSERT_EQ(o.done, expected.is == naive_body::end::whole) << bytes;
        if (expected.is == naive_body::end::malformed) {
            ASSERT_TRUE(o.malformed) << bytes;
        }
        if (o.done) {
            ASSERT_EQ(o.content, expected.content) << bytes;
            ASSERT_EQ(o.trailers, expected.trailers) << bytes;
            ASSERT_EQ(o.consumed, expected.consumed) << bytes;
        }
        whole += o.done ? 1 : 0;
        malformed += o.malformed ? 1 : 0;
    }
    EXPECT_GT(whole, 2000);
    EXPECT_GT(malformed, 2000);
}

}  // namespace body_reader_test
}  // namespace gateway::http
