#include "gateway/admin/gzip.hpp"

#include <boost/beast/zlib/deflate_stream.hpp>
#include <boost/crc.hpp>

#include <cstddef>
#include <cstdint>

namespace gateway::admin {

namespace {

namespace beast = boost::beast;
namespace zlib = boost::beast::zlib;

// The header of a gzip file: deflate, no name, no time, an unknown system.
constexpr std::string_view gzip_header{"\x1f\x8b\x08\0\0\0\0\0\0\xff", 10};

void append_little_endian(std::string& out, std::uint32_t number)
{
    for (int i = 0; i < 4; ++i) {
        out.push_back(static_cast<char>(number & 0xFFU));
        number >>= 8U;
    }
}

}  // namespace

std::string gzipped(std::string_view text)
{
    std::string out(gzip_header);
    out.resize(gzip_header.size() + zlib::deflate_upper_bound(text.size()));
    zlib::z_params p;
    p.next_in = text.data();
    p.avail_in = text.size();
    p.next_out = out.data() + gzip_header.size();
    p.avail_out = out.size() - gzip_header.size();
    zlib::deflate_stream coder;
    beast::error_code ended;
    coder.write(p, zlib::Flush::finish, ended);
    out.resize(gzip_header.size() + p.total_out);
    boost::crc_32_type sum;
    sum.process_bytes(text.data(), text.size());
    append_little_endian(out, sum.checksum());
    append_little_endian(out, static_cast<std::uint32_t>(text.size()));
    return out;
}

}  // namespace gateway::admin
