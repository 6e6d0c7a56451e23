#include "gateway/admin/gzip.hpp"

#include "gateway/admin/accepted.hpp"

#include <boost/beast/core/error.hpp>
#include <boost/beast/zlib/inflate_stream.hpp>
#include <gtest/gtest.h>

namespace gateway::admin {
namespace gzip_test {

// Between the header of ten bytes and the sum and size of eight.
std::string inflated(std::string_view packed, std::size_t room)
{
    namespace zlib = boost::beast::zlib;
    std::string text(room, '\0');
    zlib::z_params p;
    p.next_in = packed.data() + 10;
    p.avail_in = packed.size() - 18;
    p.next_out = text.data();
    p.avail_out = room;
    zlib::inflate_stream decoder;
    boost::beast::error_code ended;
    decoder.write(p, zlib::Flush::finish, ended);
    EXPECT_EQ(ended, zlib::error::end_of_stream);
    text.resize(p.total_out);
    return text;
}

TEST(gzip, gives_every_text_back)
{
    std::string varied;
    for (int i = 0; i < 100'000; ++i) {
        varied += std::to_string(i * 7919);
    }
    for (const std::string& text :
         {std::string{}, std::string{"a"}, std::string(70'000, 'x'), varied}) {
        const std::string packed = gzipped(text);
        EXPECT_EQ(packed.substr(0, 3), "\x1f\x8b\x08");
        EXPECT_EQ(inflated(packed, text.size() + 1), text);
        EXPECT_EQ(static_cast<unsigned char>(packed[packed.size() - 4]), text.size() % 256);
    }
    EXPECT_EQ(gzipped("123456789").substr(gzipped("123456789").size() - 8, 4), "\x26\x39\xf4\xcb");
}

TEST(gzip, is_for_who_accepts_it)
{
    for (const char* accepted :
         {"gzip",
          "GZip",
          "br, gzip",
          "gzip;q=0.1",
          "gzip; q=1",
          "*",
          "*;q=0, gzip",
          "br;q=0, gzip"}) {
        EXPECT_TRUE(accepts_gzip(accepted)) << accepted;
    }
    for (const char* accepted :
         {"",
          "br",
          "identity",
          "gzip;q=0",
          "gzip;q=0.000",
          "*;q=0",
          "xgzip",
          ";;",
          "*, gzip;q=0"}) {
        EXPECT_FALSE(accepts_gzip(accepted)) << accepted;
    }
}

}  // namespace gzip_test
}  // namespace gateway::admin
