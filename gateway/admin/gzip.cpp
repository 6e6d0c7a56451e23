#include "gateway/admin/gzip.hpp"

#include <boost/beast/core/string.hpp>
#include <boost/beast/http/rfc7230.hpp>
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

// True if the quality has no digit but zeros, as in "q=0.000".
bool is_zero(beast::string_view quality)
{
    return quality.find_first_of("123456789") == beast::string_view::npos;
}

}  // namespace

bool accepts_gzip(std::string_view accepted)
{
    bool by_any = false;
    for (const auto& [coding, parameters] :
         beast::http::ext_list{{accepted.data(), accepted.size()}}) {
        bool refused = false;
        for (const auto& [name, value] : parameters) {
            // Beast 1.81 gives an element that has no parameters those of the one before it.
            const bool is_its_own = name.data() > coding.data();
            refused = refused || (is_its_own && beast::iequals(name, "q") && is_zero(value));
        }
        // "*" stands for the codings that are not named (RFC 9110 §12.5.3).
        if (beast::iequals(coding, "gzip")) {
            return !refused;
        }
        by_any = by_any || (coding == "*" && !refused);
    }
    return by_any;
}

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
