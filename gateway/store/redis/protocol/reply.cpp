#include "gateway/store/redis/protocol/reply.hpp"

#include "gateway/store/redis/protocol/tree.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

namespace gateway::store::redis {

namespace {

// hiredis builds replies through these functions. All of one reply goes into the reader's
// `partial_`, its private data. A null makes the reader give up, which is how everything unexpected
// ends.
reply_reader::partial& partial_of(const redisReadTask* task)
{
    return *static_cast<reply_reader::partial*>(task->privdata);
}

reply& reply_of(const redisReadTask* task)
{
    return partial_of(task).whole;
}

// Appends a text of an array, if it still fits.
void append_word(reply& r, std::string_view text)
{
    if (r.what != reply::kind::words) {
        r.what = reply::kind::words;
        r.count = 0;
    }
    if (r.count + text.size() < reply::max_text) {
        std::memcpy(&r.bytes[r.count], text.data(), text.size());
        r.count += text.size();
        r.bytes[r.count++] = '\0';
    }
}

void* make_text(const redisReadTask* task, char* text, std::size_t length)
{
    reply& r = reply_of(task);
    if (task->parent != nullptr) {
        append_word(r, {text, length});
        return &r;
    }
    r.what = task->type == REDIS_REPLY_ERROR    ? reply::kind::error
             : task->type == REDIS_REPLY_STATUS ? reply::kind::status
                                                : reply::kind::text;
    r.count = std::min(length, reply::max_text);
    std::memcpy(r.bytes.data(), text, r.count);
    return &r;
}

// hiredis 0.14 announces elements as an int, 1.x as a size_t.
template <typename Count>
void* make_array(const redisReadTask* task, Count elements)
{
    const bool is_array = task->type == REDIS_REPLY_ARRAY;
    std::size_t& announced = partial_of(task).announced;
    announced = task->parent == nullptr ? 0 : announced;
    if (!is_array || std::cmp_less(elements, 0) ||
        std::cmp_greater(elements, reply::max_integers - announced) ||
        depth_of(task) >= tree_reader::max_depth) {
        return nullptr;
    }
    announced += static_cast<std::size_t>(elements);
    reply& r = reply_of(task);
    if (task->parent == nullptr) {
        r.what = reply::kind::integers;
        r.count = static_cast<std::size_t>(elements);
    } else if (r.what == reply::kind::integers) {
        r.what = reply::kind::words;
        r.count = 0;
    }
    return &r;
}

void* make_integer(const redisReadTask* task, long long value)
{
    reply& r = reply_of(task);
    if (task->parent == nullptr) {
        r.what = reply::kind::integer;
        r.count = 1;
        r.integers[0] = value;
    } else if (r.what == reply::kind::integers) {
        r.integers[static_cast<std::size_t>(task->idx)] = value;
    }
    return &r;
}

void* make_nil(const redisReadTask* task)
{
    reply& r = reply_of(task);
    if (task->parent == nullptr) {
        r.what = reply::kind::nil;
        r.count = 0;
    } else if (r.what == reply::kind::integers) {
        r.what = reply::kind::words;
        r.count = 0;
    }
    return &r;
}

void free_nothing(void*) {}

// hiredis 1.x knows more types, those of RESP3, which nobody has asked for.
redisReplyObjectFunctions makers = [](auto functions) {
    functions.createString = make_text;
    functions.createArray = make_array;
    functions.createInteger = make_integer;
    functions.createNil = make_nil;
    functions.freeObject = free_nothing;
    if constexpr (requires { functions.createDouble; }) {
        functions.createDouble = [](auto...) -> void* { return nullptr; };
        functions.createBool = [](auto...) -> void* { return nullptr; };
    }
    return functions;
}(redisReplyObjectFunctions{});

}  // namespace

void reply::assign(const reply& other)
{
    what = other.what;
    count = other.count;
    const bool holds_integers = what == kind::integer || what == kind::integers;
    std::copy_n(other.integers.begin(), holds_integers ? count : 0, integers.begin());
    std::copy_n(other.bytes.begin(), holds_integers ? 0 : count, bytes.begin());
}

std::string_view reply::word(std::size_t index) const
{
    std::string_view rest = what == kind::words ? text() : std::string_view{};
    for (; index > 0 && !rest.empty(); --index) {
        rest.remove_prefix(rest.find('\0') + 1);
    }
    return rest.substr(0, rest.find('\0'));
}

reply_reader::reply_reader()
    : partial_(std::make_unique<partial>()), reader_(redisReaderCreateWithFunctions(&makers))
{
    if (reader_ == nullptr) {
        throw std::bad_alloc{};
    }
    reader_->privdata = partial_.get();
}

void reply_reader::reset()
{
    *this = reply_reader{};
}

bool reply_reader::drained() const
{
    return reader_->len == reader_->pos;
}

void reply_reader::feed(std::span<const char> bytes)
{
    garbage_ = garbage_ || reader_->len - reader_->pos + bytes.size() > max_unread ||
               redisReaderFeed(reader_.get(), bytes.data(), bytes.size()) != REDIS_OK;
}

reply_reader::next reply_reader::read(reply& into)
{
    if (garbage_) {
        return next::garbage;
    }
    void* done = nullptr;
    if (redisReaderGetReply(reader_.get(), &done) != REDIS_OK) {
        garbage_ = true;
        return next::garbage;
    }
    if (done == nullptr) {
        return next::nothing;
    }
    into.assign(partial_->whole);
    return next::reply;
}

std::optional<std::int64_t> call_number(const reply& r)
{
    const bool good = r.what == reply::kind::integers && r.count > 1;
    return good ? std::optional{r.integers[0]} : std::nullopt;
}

}  // namespace gateway::store::redis
