#include "gateway/store/redis/tree.hpp"

#include <new>

namespace gateway::store::redis {

tree_reader::tree_reader() : reader_(redisReaderCreate())
{
    if (reader_ == nullptr) {
        throw std::bad_alloc{};
    }
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
