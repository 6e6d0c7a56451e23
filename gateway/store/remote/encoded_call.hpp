// `encoded_call` is a call as the functions in any kind of shared store get it: the keys of what it
// touches, and numbers, which redis/take.lua explains. encode() encodes it. Pure.
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

// `texts` holds texts in one piece of memory, which moves as it grows. Read them when all are
// there.
class texts {
public:
    void add(std::string_view text) { ends_.push_back(bytes_.append(text).size()); }

    void add(std::int64_t n);

    std::size_t size() const { return ends_.size(); }

    // Returns a text, which is valid until the next one is added.
    std::string_view operator[](std::size_t i) const
    {
        const std::size_t from = i == 0 ? 0 : ends_[i - 1];
        return std::string_view{bytes_}.substr(from, ends_[i] - from);
    }

private:
    std::string bytes_;
    std::vector<std::size_t> ends_;
};

// `simple_charges` are simple questions, each of one charge of a token bucket and nothing else,
// that differ only in their keys and are encoded together.
struct simple_charges {
    // Number of times that each is asked, in a row.
    std::int64_t times = 1;
    // False in shadow mode.
    bool enforced = true;
    std::int64_t cost = 1;
    // Interval of the limit in microseconds, and its burst in tokens.
    std::int64_t interval = 0;
    std::int64_t burst = 0;
    // Number of keys. 0: this stands for another question, of any kind, asked `times` times.
    std::int64_t keys = 0;
};

struct encoded_call {
    texts keys;
    std::vector<std::int64_t> numbers;
    // Questions of the call, in their order.
    std::vector<simple_charges> shape;
};

// `grouping` says if simple questions are encoded together, or each like any other.
enum class grouping { together, apart };

// `epoch_keys` says if the key of the grant epoch is the last of the call's keys. Without it, the
// call's number is negative, also in the reply.
enum class epoch_keys { one, none };

struct encoding_options {
    std::string_view key_prefix;
    // Unix time now. The store gets the windows of a calendar around it.
    base::duration unix_now{0};
    grouping ones = grouping::together;
    epoch_keys epoch = epoch_keys::one;
};

// Encodes a call.
// Requires: simple questions that ask the same are neighbors.
encoded_call encode(
    std::int64_t number,
    std::span<const pending_question* const> questions,
    const encoding_options& how
);
encoded_call encode(const call& c, const encoding_options& how);

// Encodes a call that always writes, to a key of its own that is gone some milliseconds later.
encoded_call encode_probe(std::int64_t number, const encoding_options& how);

// Returns the key of the grant epoch.
std::string epoch_key(std::string_view key_prefix);

// Returns the key of a bucket: prefix, limit, and a hash of the name, which may be a secret.
std::string key_of(std::string_view key_prefix, const charge& c);

// Returns the key of the ban of a bucket with that key.
std::string ban_key_of(std::string bucket_key);

}  // namespace gateway::store
