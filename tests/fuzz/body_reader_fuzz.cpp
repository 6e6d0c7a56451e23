// Input: a byte of framing, one of the size of the parts, then a body and what follows it.
#include "gateway/http/input/body_reader.hpp"

#include "tests/fuzz/require.hpp"
#include "tests/unit/http/naive_chunks.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

namespace {

using namespace gateway;
using fuzz::require;

struct outcome {
    std::string content;
    std::string trailers;
    std::size_t consumed = 0;
    bool done = false;
    bool malformed = false;

    bool operator==(const outcome&) const = default;
};

outcome read_in_parts(http::framing f, std::string_view bytes, std::size_t part_size)
{
    http::body_reader reader(f);
    outcome all;
    while (all.consumed < bytes.size() && !reader.done() && !all.malformed) {
        std::string part(bytes.substr(all.consumed, part_size));
        const http::body_reader::piece piece = reader.read(part);
        require(piece.consumed == part.size() || piece.malformed || reader.done());
        require(piece.content.size() <= piece.consumed);
        all.content.append(piece.content);
        require(piece.trailers.empty() || reader.done());
        all.trailers.append(piece.trailers);
        all.consumed += piece.consumed;
        all.malformed = piece.malformed;
    }
    all.done = reader.done();
    require(!all.done || !all.malformed);
    return all;
}

http::framing framing_of(std::uint8_t choice)
{
    switch (choice % 4) {
        case 0:
            return {http::framing::kind::length, static_cast<std::uint64_t>(choice / 4)};
        case 1:
            return {http::framing::kind::until_close, 0};
        default:
            return {http::framing::kind::chunked, 0};
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    if (size < 2) {
        return 0;
    }
    const http::framing f = framing_of(data[0]);
    const std::string bytes(data + 2, data + size);
    const outcome whole = read_in_parts(f, bytes, bytes.size());
    require(read_in_parts(f, bytes, data[1] % 32u + 1) == whole);
    require(read_in_parts(f, bytes, 1) == whole);
    if (f.how != http::framing::kind::chunked) {
        const bool by_length = f.how == http::framing::kind::length;
        const std::size_t wanted =
            by_length ? std::min<std::size_t>(f.length, bytes.size()) : bytes.size();
        require(
            !whole.malformed && whole.content == bytes.substr(0, wanted) && whole.consumed == wanted
        );
        return 0;
    }
    using http::testing::naive_body;
    const naive_body expected = http::testing::naive_decode(bytes);
    const bool within_bounds = bytes.size() <= http::chunk_bounds{}.max_line_bytes;
    if (whole.done || within_bounds) {
        require(whole.done == (expected.is == naive_body::end::whole));
        require(
            !whole.done ||
            (whole.content == expected.content && whole.trailers == expected.trailers &&
             whole.consumed == expected.consumed)
        );
    }
    require(expected.is != naive_body::end::malformed || whole.malformed);
    return 0;
}
