// What a Redis server says, read from its bytes (RESP2, by hiredis) into one small value.
//
// Pure but for hiredis' own buffer. Bounded: anything larger or deeper than a reply of ours can be
// is garbage, and then the connection it came from is of no more use.
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

    // `words`: an array of texts, or of anything else than integers. Each text, also of the arrays
    // in it, is there with a NUL behind it; all else is left out.
    enum class kind { nil, status, error, text, integer, integers, words };

    kind what = kind::nil;
    // The number of bytes or of integers.
    std::size_t count = 0;

    std::array<std::int64_t, max_integers> integers{};
    std::array<char, max_text> bytes{};

    std::string_view text() const { return {bytes.data(), count}; }

    // Those of `integers`.
    std::span<const std::int64_t> all() const { return std::span{integers}.first(count); }

    // That text of `words`, counted from 0; empty if there are fewer.
    std::string_view word(std::size_t index) const;

    // Copies what there is, which is little of what could be.
    void assign(const reply& other);
};

class reply_reader {
public:
    // What one read of the loop brings, behind the beginning of a reply.
    static constexpr std::size_t max_unread = 2 * 64 * 1024;

    enum class next { reply, nothing, garbage };

    // The reply being read, and the number of elements that its arrays have announced so far, of
    // which all together may be reply::max_integers.
    struct partial {
        reply whole;
        std::size_t announced = 0;
    };

    reply_reader();

    void feed(std::span<const char> bytes);
    next read(reply& into);

    // Forgets everything, for a new connection.
    void reset();

    // Whether nothing is left of what was fed.
    bool drained() const;

private:
    struct freer {
        void operator()(redisReader* r) const { redisReaderFree(r); }
    };

    // On the heap, because hiredis keeps pointing at it while a reply arrives in pieces.
    std::unique_ptr<partial> partial_;
    std::unique_ptr<redisReader, freer> reader_;
    bool garbage_ = false;
};

// The number of the call that take.lua replies to; nothing if it is no reply of it.
std::optional<std::int64_t> call_number(const reply& r);

}  // namespace gateway::store::redis
