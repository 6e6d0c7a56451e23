#include "gateway/store/redis/protocol/tree.hpp"

#include <new>
#include <utility>

namespace gateway::store::redis {

// `bounded_makers` are hiredis' own functions, except that arrays are bounded before memory is
// reserved for them.
struct bounded_makers {
    // hiredis 0.14 announces elements as an int, 1.x as a size_t.
    template <typename Count>
    static void* make_array(const redisReadTask* task, Count elements)
    {
        tree_reader& reader = *static_cast<tree_reader*>(task->privdata);
        const std::size_t room = tree_reader::max_elements - reader.announced_;
        if (std::cmp_less(elements, 0) || std::cmp_greater(elements, room) ||
            depth_of(task) >= tree_reader::max_depth) {
            return nullptr;
        }
        reader.announced_ += static_cast<std::size_t>(elements);
        return own.createArray(task, elements);
    }

    static redisReplyObjectFunctions own;
    static redisReplyObjectFunctions bounded;
};

redisReplyObjectFunctions bounded_makers::own = [] {
    redisReader* const standard = redisReaderCreate();
    if (standard == nullptr) {
        throw std::bad_alloc{};
    }
    const redisReplyObjectFunctions functions = *standard->fn;
    redisReaderFree(standard);
    return functions;
}();

redisReplyObjectFunctions bounded_makers::bounded = [] {
    redisReplyObjectFunctions functions = own;
    functions.createArray = make_array;
    return functions;
}();

std::size_t depth_of(const redisReadTask* task)
{
    std::size_t depth = 0;
    for (; task->parent != nullptr; task = task->parent) {
        ++depth;
    }
    return depth;
}

tree_reader::tree_reader() : reader_(redisReaderCreateWithFunctions(&bounded_makers::bounded))
{
    if (reader_ == nullptr) {
        throw std::bad_alloc{};
    }
    reader_->privdata = this;
}

void tree_reader::feed(std::span<const char> bytes)
{
    fed_ += bytes.size();
    garbage_ = garbage_ || fed_ > max_bytes ||
               redisReaderFeed(reader_.get(), bytes.data(), bytes.size()) != REDIS_OK;
}

tree tree_reader::read()
{
    void* done = nullptr;
    garbage_ = garbage_ || redisReaderGetReply(reader_.get(), &done) != REDIS_OK;
    return tree{static_cast<redisReply*>(done)};
}

}  // namespace gateway::store::redis
