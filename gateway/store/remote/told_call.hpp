// A call in the words that functions in a shared store are told, whichever store it is: the keys of
// what it touches, and numbers. What they mean is said in redis/take.lua. Pure.
#pragma once

#include "gateway/base/clock.hpp"
#include "gateway/store/remote/call.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gateway::store {

// Texts in one piece of memory, which moves as it grows: to be read when all are there.
class texts {
public:
    void add(std::string_view text) { ends_.push_back(bytes_.append(text).size()); }

    void add(std::int64_t n);

    std::size_t size() const { return ends_.size(); }

    // Not for long: until the next one is added.
    std::string_view operator[](std::size_t i) const
    {
        const std::size_t from = i == 0 ? 0 : ends_[i - 1];
        return std::string_view{bytes_}.substr(from, ends_[i] - from);
    }

private:
    std::string bytes_;
    std::vector<std::size_t> ends_;
};

// Questions that differ in their key only, each of one charge of a token bucket and nothing else,
// which are told together.
struct usual_questions {
    // How often each is asked, one after the other.
    std::int64_t times = 1;
    // False: in shadow mode.
    bool enforced = true;
    std::int64_t cost = 1;
    // In microseconds, and in tokens.
    std::int64_t interval = 0;
    std::int64_t burst = 0;
    // How many; 0: it stands for another question, of any kind, so often asked.
    std::int64_t keys = 0;
};

struct told_call {
    texts keys;
    std::vector<std::int64_t> numbers;
    // What its questions are, in their order.
    std::vector<usual_questions> shape;
};

// Whether usual questions are told together, or each like any other.
enum class usual { together, apart };

// Whether the call is told the key of the mark of grants, the last one. Without it, its number
// comes back negative.
enum class marks { one, none };

struct telling {
    std::string_view key_prefix;
    // Around it are the windows of a calendar that the store is told of.
    base::duration unix_now{0};
    usual ones = usual::together;
    marks mark = marks::one;
};

// Of questions that ask the same those must be together that are usual.
told_call tell(
    std::int64_t number, std::span<const pending_question* const> questions, const telling& how
);
told_call tell(const call& c, const telling& how);

// A call that always writes: to a key of its own, gone some milliseconds later.
told_call tell_probe(std::int64_t number, const telling& how);

// Where the mark of the last grant of tokens lives.
std::string mark_key(std::string_view key_prefix);

// Where a bucket lives: prefix, limit, and a hash of the name, which may be a secret.
std::string key_of(std::string_view key_prefix, const charge& c);

// Where the ban of a bucket with that key lives.
std::string ban_key_of(std::string bucket_key);

}  // namespace gateway::store
