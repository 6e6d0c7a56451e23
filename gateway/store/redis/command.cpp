#include "gateway/store/redis/command.hpp"

#include "gateway/base/clock.hpp"
#include "gateway/base/hash.hpp"
#include "gateway/store/redis/scripts.hpp"

#include <hiredis/hiredis.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <new>
#include <vector>

namespace gateway::store::redis {

namespace {

// Texts in one piece of memory, which moves as it grows: to be read when all are there.
class texts {
public:
    void add(std::string_view text) { end(bytes_.append(text).size()); }

    void add(std::int64_t n)
    {
        std::array<char, 20> digits;
        add({digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), n).ptr});
    }

    std::size_t size() const { return ends_.size(); }

    void append_to(std::vector<std::string_view>& words) const
    {
        std::size_t from = 0;
        for (const std::size_t end : ends_) {
            words.push_back(std::string_view{bytes_}.substr(from, end - from));
            from = end;
        }
    }

private:
    std::string bytes_;
    std::vector<std::size_t> ends_;

    void end(std::size_t at) { ends_.push_back(at); }
};

bool same(const charge& a, const charge& b)
{
    return a.correction == nullptr && b.correction == nullptr && a.limit == b.limit &&
           a.cost == b.cost && a.enforced == b.enforced && a.bucket_name == b.bucket_name &&
           a.limit_name == b.limit_name;
}

bool same(const pending_question& a, const pending_question& b)
{
    return std::equal(
        a.charges.begin(),
        a.charges.end(),
        b.charges.begin(),
        b.charges.end(),
        [](const charge& x, const charge& y) { return same(x, y); }
    );
}

// The words of one call.
class take_words {
public:
    explicit take_words(std::int64_t number) { arguments_.add(number); }

    // So many times in a row.
    void add(std::span<const charge> charges, std::size_t times, std::string_view key_prefix)
    {
        arguments_.add(static_cast<std::int64_t>(times));
        arguments_.add(static_cast<std::int64_t>(charges.size()));
        for (const charge& c : charges) {
            keys_.add(key_of(key_prefix, c));
            if (c.correction != nullptr) {
                add(*c.correction, std::string{key_prefix}.append("correction:").append(c.receipt));
            } else {
                // More than a full bucket is rejected whatever the number; this one is exact there,
                // too.
                arguments_.add(std::min(c.cost, c.limit->burst() + 1));
                arguments_.add(c.enforced ? 1 : 0);
            }
            limit_.clear();
            c.limit->append_numbers(limit_, base::unix_time());
            for (const std::int64_t number : limit_) {
                arguments_.add(number);
            }
        }
    }

    void write(std::string& out, std::string_view sha)
    {
        const std::string count = std::to_string(keys_.size());
        std::vector<std::string_view> words{"EVALSHA", sha, count};
        words.reserve(words.size() + keys_.size() + arguments_.size());
        keys_.append_to(words);
        arguments_.append_to(words);
        encode(out, words);
    }

private:
    texts keys_;
    texts arguments_;
    std::vector<std::int64_t> limit_;

    void add(const limit::correction& c, const std::string& receipt)
    {
        keys_.add(receipt);
        arguments_.add(c.of.tokens);
        arguments_.add(2 + static_cast<int>(c.what));
        arguments_.add(c.of.held);
        arguments_.add(c.of.owed_before);
    }
};

}  // namespace

void encode(std::string& out, std::span<const std::string_view> words)
{
    std::vector<const char*> begins;
    std::vector<std::size_t> lengths;
    begins.reserve(words.size());
    lengths.reserve(words.size());
    for (const std::string_view word : words) {
        begins.push_back(word.data());
        lengths.push_back(word.size());
    }
    char* bytes = nullptr;
    const auto count = static_cast<int>(words.size());
    const int length = redisFormatCommandArgv(&bytes, count, begins.data(), lengths.data());
    if (length < 0) {
        throw std::bad_alloc{};
    }
    out.append(bytes, static_cast<std::size_t>(length));
    redisFreeCommand(bytes);
}

// Of those that were asked the same, one after the other, only the first one's words are needed.
void encode_take(std::string& out, const take_script_of& script, const call& asked)
{
    take_words words{asked.number};
    const auto all = asked.all();
    for (auto first = all.begin(); first != all.end();) {
        const auto other = [&first](const pending_question& q) { return !same(q, *first); };
        const auto end = std::find_if(std::next(first), all.end(), other);
        words.add(first->charges, static_cast<std::size_t>(end - first), script.key_prefix);
        first = end;
    }
    words.write(out, script.sha);
}

void encode_probe(std::string& out, const take_script_of& script, std::int64_t number)
{
    const std::string key = std::string{script.key_prefix} + "probe";
    // A token per microsecond, a thousand at most: never rejected, forgotten at once.
    const std::string itself = std::to_string(number);
    const std::array<std::string_view, 11> words{
        "EVALSHA", script.sha, "1", key, itself, "1", "1", "1", "1", "1", "1000"};
    encode(out, words);
}

std::string key_of(std::string_view key_prefix, const charge& c)
{
    std::string key;
    key.append(key_prefix).append(c.limit_name).append(":");
    return key.append(base::sha256_hex128(c.bucket_name));
}

}  // namespace gateway::store::redis
