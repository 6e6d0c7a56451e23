#include "gateway/replay/logs/decompressors.hpp"

#include <algorithm>
#include <limits>
#include <zlib.h>
#include <zstd.h>

namespace gateway::replay {

namespace {

constexpr std::string_view gzip_magic = "\x1f\x8b";
constexpr std::string_view zstd_magic = "\x28\xb5\x2f\xfd";
// A frame that decompresses to nothing begins with 0x50 to 0x5f and then this (RFC 8878 §3.1.2).
// pzstd writes one in front of each other frame.
constexpr std::string_view skippable_magic_end = "\x2a\x4d\x18";

bool is_zstd(std::string_view first_bytes)
{
    const bool is_skippable = !first_bytes.empty() && (first_bytes[0] & 0xf0) == 0x50 &&
                              first_bytes.substr(1).starts_with(skippable_magic_end);
    return is_skippable || first_bytes.starts_with(zstd_magic);
}

constexpr const char* no_memory = "there is no memory to decompress it";

class gzip_decompressor final : public decompressor {
public:
    gzip_decompressor()
    {
        constexpr int window_and_gzip = 15 + 16;
        ready_ = ::inflateInit2(&stream_, window_and_gzip) == Z_OK;
    }

    ~gzip_decompressor() override { ::inflateEnd(&stream_); }

    gzip_decompressor(const gzip_decompressor&) = delete;
    gzip_decompressor& operator=(const gzip_decompressor&) = delete;

    std::size_t decompress(std::span<const char>& from, std::span<char> to, std::string& complaint)
        override
    {
        if (complete_ && !from.empty() && (padded_ || from[0] != gzip_magic[0])) {
            // Bytes behind the last member are ignored, as gzip(1) ignores them.
            padded_ = true;
            from = {};
        }
        if (complete_ && !from.empty()) {
            complete_ = false;
            ::inflateReset(&stream_);
        }
        if (!ready_) {
            complaint = no_memory;
        }
        if (complete_ || !ready_) {
            return 0;
        }
        constexpr std::size_t most = std::numeric_limits<uInt>::max();
        stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(from.data()));
        stream_.avail_in = static_cast<uInt>(std::min(from.size(), most));
        stream_.next_out = reinterpret_cast<Bytef*>(to.data());
        stream_.avail_out = static_cast<uInt>(std::min(to.size(), most));
        const uInt before = stream_.avail_in;
        const uInt room = stream_.avail_out;
        const int result = ::inflate(&stream_, Z_NO_FLUSH);
        from = from.subspan(before - stream_.avail_in);
        complete_ = result == Z_STREAM_END;
        if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR) {
            complaint = stream_.msg == nullptr ? "it is no gzip" : stream_.msg;
        }
        return room - stream_.avail_out;
    }

    bool is_complete() const override { return complete_; }

private:
    z_stream stream_{};
    bool ready_ = false;
    bool complete_ = false;
    // True if bytes that are no member stand behind the last one.
    bool padded_ = false;
};

class zstd_decompressor final : public decompressor {
public:
    zstd_decompressor() : stream_(::ZSTD_createDStream()) {}

    ~zstd_decompressor() override { ::ZSTD_freeDStream(stream_); }

    zstd_decompressor(const zstd_decompressor&) = delete;
    zstd_decompressor& operator=(const zstd_decompressor&) = delete;

    std::size_t decompress(std::span<const char>& from, std::span<char> to, std::string& complaint)
        override
    {
        if (stream_ == nullptr) {
            complaint = no_memory;
            return 0;
        }
        ZSTD_inBuffer in{from.data(), from.size(), 0};
        ZSTD_outBuffer out{to.data(), to.size(), 0};
        const std::size_t result = ::ZSTD_decompressStream(stream_, &out, &in);
        from = from.subspan(in.pos);
        if (::ZSTD_isError(result) != 0) {
            complaint = ::ZSTD_getErrorName(result);
            return 0;
        }
        // Without input the result says nothing of the data before.
        complete_ = in.pos > 0 || out.pos > 0 ? result == 0 : complete_;
        return out.pos;
    }

    bool is_complete() const override { return complete_; }

private:
    ZSTD_DStream* stream_;
    bool complete_ = false;
};

}  // namespace

std::unique_ptr<decompressor> decompressor_for(std::string_view first_bytes)
{
    if (first_bytes.starts_with(gzip_magic)) {
        return std::make_unique<gzip_decompressor>();
    }
    if (is_zstd(first_bytes)) {
        return std::make_unique<zstd_decompressor>();
    }
    return nullptr;
}

}  // namespace gateway::replay
