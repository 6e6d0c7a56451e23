// `tree` is a reply of a Redis server of any shape, as hiredis builds it, for what is asked seldom.
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
    // Most elements of all arrays together, as announced, since hiredis reserves memory for each
    // before any of them has come. An element takes at least 4 bytes.
    static constexpr std::size_t max_elements = max_bytes / 4;
    // Most arrays within one another, since hiredis 1.x has no bound and frees them by recursion.
    static constexpr std::size_t max_depth = 7;

    tree_reader();
    tree_reader(const tree_reader&) = delete;
    tree_reader& operator=(const tree_reader&) = delete;

    void feed(std::span<const char> bytes);

    // Returns the reply, or null if it is not complete yet or garbage().
    tree read();

    // True if the bytes are no reply, or one that is too large.
    bool garbage() const { return garbage_; }

private:
    struct freer {
        void operator()(redisReader* r) const { redisReaderFree(r); }
    };

    std::unique_ptr<redisReader, freer> reader_;
    std::size_t fed_ = 0;
    std::size_t announced_ = 0;
    bool garbage_ = false;

    friend struct bounded_makers;
};

// Returns the number of arrays that the array of this task is in.
std::size_t depth_of(const redisReadTask* task);

}  // namespace gateway::store::redis
