#include "gateway/store/redis/reply.hpp"

#include <algorithm>
#include <cstring>
#include <new>

namespace gateway::store::redis {

namespace {

// hiredis builds replies through these. All of one reply goes into the reader's `partial_`, its
// private data; a null makes the reader give up, which is how everything unexpected ends.
reply& reply_of(const redisReadTask* task)
{
    return *static_cast<reply*>(task->privdata);
}

// What fits of a text that is in an array.
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

void* make_array(const redisReadTask* task, int elements)
{
    if (elements < 0 || static_cast<std::size_t>(elements) > reply::max_integers) {
        return nullptr;
    }
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

redisReplyObjectFunctions makers{make_text, make_array, make_integer, make_nil, free_nothing};

bool begins(std::string_view text, std::string_view word)
{
    return text.substr(0, word.size()) == word &&
           (text.size() == word.size() || text[word.size()] == ' ');
}

struct known_error {
    std::string_view word;
    complaint means;
};

constexpr std::array known_errors{
    known_error{"NOSCRIPT", {.noscript = true}},
    known_error{"LOADING", {.why = failure::loading}},
    known_error{"BUSY", {.why = failure::loading}},
    known_error{"MASTERDOWN", {.why = failure::loading}},
    known_error{"CLUSTERDOWN", {.why = failure::loading}},
    known_error{"TRYAGAIN", {.why = failure::loading}},
    known_error{"READONLY", {.reconnect = true, .why = failure::readonly}},
    known_error{"NOREPLICAS", {.why = failure::readonly}},
    known_error{"MISCONF", {.why = failure::readonly}},
    known_error{"OOM", {.why = failure::readonly}},
    known_error{"NOAUTH", {.reconnect = true, .why = failure::auth}},
    known_error{"WRONGPASS", {.reconnect = true, .why = failure::auth}},
    known_error{"NOPERM", {.why = failure::auth}},
    known_error{"WRONGTYPE", {.why = failure::corrupt}},
};

constexpr complaint unknown_error{.why = failure::config};  // MOVED, ASK, CROSSSLOT, and the rest

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
    : partial_(std::make_unique<reply>()), reader_(redisReaderCreateWithFunctions(&makers))
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
    into.assign(*partial_);
    return next::reply;
}

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

complaint classify(std::string_view error)
{
    for (const known_error& k : known_errors) {
        if (begins(error, k.word)) {
            return k.means;
        }
    }
    if (begins(error, "ERR max number of clients")) {
        return {.reconnect = true, .why = failure::unreachable};
    }
    if (!begins(error, "ERR")) {
        return unknown_error;
    }
    // Servers up to 6.2 wrap what a command in a script said: "ERR Error running script ...: -OOM
    // ...".
    for (const known_error& k : known_errors) {
        for (std::size_t at = error.find(k.word); at != std::string_view::npos;
             at = error.find(k.word, at + 1)) {
            if ((error[at - 1] == '-' || error[at - 1] == ' ') &&
                begins(error.substr(at), k.word)) {
                return k.means;
            }
        }
    }
    return unknown_error;
}

std::string quotable(std::string_view error, std::string_view password)
{
    constexpr std::size_t most = 120;
    std::string words(error.substr(0, error.find(", with args")));
    const std::size_t size = password.size();
    for (std::size_t at = words.find(password); size > 0 && at != std::string::npos;
         at = words.find(password, at)) {
        words.replace(at, size, "***");
        at += 3;
    }
    if (words.size() > most) {
        words.resize(most);
        words += "...";
    }
    return words;
}

std::optional<std::int64_t> call_number(const reply& r)
{
    const bool good = r.what == reply::kind::integers && r.count > 1;
    return good ? std::optional{r.integers[0]} : std::nullopt;
}

call_results::kind take_results::next(std::size_t charges, answer& into)
{
    if (walk_.ended()) {
        return kind::garbage;
    }
    const kind said = walk_.asked().keys == 0 ? read_question(integers_, at_, charges, into)
                      : charges == 1          ? next_usual(into)
                                              : kind::garbage;
    walk_.go_on();
    return said;
}

// One number is told of a bucket, however many times it was asked.
call_results::kind take_results::next_usual(answer& into)
{
    if (at_ == integers_.size()) {
        return kind::garbage;
    }
    const usual_questions& asked = walk_.asked();
    const std::int64_t before = walk_.before();
    const std::int64_t debt = integers_[at_];
    at_ += before + 1 == asked.times ? 1 : 0;
    if (debt == -1) {
        return kind::corrupt;
    }
    return read_usual(asked, before, debt, into);
}

}  // namespace gateway::store::redis
