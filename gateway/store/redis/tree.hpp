// A reply of a Redis server of any shape, as hiredis builds it, for what is asked seldom.
#pragma once

#include <hiredis/hiredis.h>

#include <cstddef>
#include <memory>
#include <span>

namespace gateway::store::redis {

struct tree_freer {
    void operator()(redisReply* r) const { freeReplyObject(r); }
};

using tree = std::unique_ptr<redisReply, tree_freer>;

class tree_reader {
public:
    static constexpr std::size_t max_bytes = 1024 * 1024;

    tree_reader();

    void feed(std::span<const char> bytes);

    // Null: it is not all there yet, or garbage().
    tree read();

    // That is no reply, or too much of one.
    bool garbage() const { return garbage_; }

private:
    struct freer {
        void operator()(redisReader* r) const { redisReaderFree(r); }
    };

    std::unique_ptr<redisReader, freer> reader_;
    std::size_t fed_ = 0;
    bool garbage_ = false;
};

}  // namespace gateway::store::redis
