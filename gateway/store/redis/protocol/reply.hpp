// `reply` holds what a Redis server replies, read from its bytes (RESP2, by hiredis) into one small
// value.
//
// Pure but for hiredis' own buffer. Sizes are bounded: anything larger or deeper than a reply to
// the gateway can be is garbage, and then the connection it came from is of no more use.
#pragma once

#include "gateway/store/remote/call.hpp"

#include <hiredis/hiredis.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

namespace gateway::store::redis {

struct reply {
    static constexpr std::size_t max_integers = 2 + call::max_questions + 4 * call::max_charges;
    // Most bytes of text kept; longer text is cut.
    static constexpr std::size_t max_text = 2048;

    // `words` is an array of texts, or of anything but integers. Each text, also of nested arrays,
    // is kept with a NUL behind it; all else is left out.
    enum class kind { nil, status, error, text, integer, integers, words };

    kind what = kind::nil;
    // Number of bytes or of integers.
    std::size_t count = 0;

    std::array<std::int64_t, max_integers> integers{};
    std::array<char, max_text> bytes{};

    std::string_view text() const { return {bytes.data(), count}; }

    // Returns the integers that were read.
    std::span<const std::int64_t> all() const { return std::span{integers}.first(count); }

    // Returns that text of `words`, counted from 0, or an empty one if there are fewer.
    std::string_view word(std::size_t index) const;

    // Copies the bytes or integers in use, which are few of those that there is room for.
    void assign(const reply& other);
};

class reply_reader {
public:
    // Most bytes that may be unread: what one read of the loop brings, behind the beginning of a
    // reply.
    static constexpr std::size_t max_unread = 2 * 64 * 1024;

    enum class next { reply, nothing, garbage };

    // `partial` is the reply being read, and the number of elements that its arrays have announced
    // so far. All arrays together may have reply::max_integers.
    struct partial {
        reply whole;
        std::size_t announced = 0;
    };

    reply_reader();

    void feed(std::span<const char> bytes);
    next read(reply& into);

    // Forgets everything, for a new connection.
    void reset();

    // True if nothing is left of what was fed.
    bool drained() const;

private:
    struct freer {
        void operator()(redisReader* r) const { redisReaderFree(r); }
    };

    // The reply is on the heap, because hiredis keeps pointing at it while it arrives in pieces.
    std::unique_ptr<partial> partial_;
    std::unique_ptr<redisReader, freer> reader_;
    bool garbage_ = false;
};

// Returns the number of the call that take.lua replies to, or nothing if this is no reply of it.
std::optional<std::int64_t> call_number(const reply& r);

}  // namespace gateway::store::redis
