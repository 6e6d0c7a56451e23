#include "gateway/store/redis/command.hpp"

#include "gateway/base/hash.hpp"
#include "gateway/store/redis/scripts.hpp"

#include <hiredis/hiredis.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <new>
#include <vector>

namespace gateway::store::redis {

namespace {

constexpr std::size_t words_before_keys = 3;  // EVALSHA sha count
constexpr std::size_t words_per_question = 2;
constexpr std::size_t words_per_charge = limit::terms{}.numbers().size() + 2;
constexpr std::size_t max_arguments =
    1 + words_per_question * call::max_questions + words_per_charge * call::max_charges;
constexpr std::size_t max_words = words_before_keys + call::max_charges + max_arguments;

// Decimal numbers that live as long as the command is put together.
class numerals {
public:
    std::string_view of(std::int64_t n)
    {
        auto& text = texts_[used_++];
        const auto end = std::to_chars(text.data(), text.data() + text.size(), n).ptr;
        return {text.data(), static_cast<std::size_t>(end - text.data())};
    }

private:
    std::array<std::array<char, 20>, 1 + max_arguments> texts_;
    std::size_t used_ = 0;
};

bool same(const charge& a, const charge& b)
{
    return a.limit == b.limit && a.cost == b.cost && a.enforced == b.enforced &&
           a.bucket_name == b.bucket_name && a.limit_name == b.limit_name;
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
    explicit take_words(std::int64_t number) { add(number); }

    // So many times in a row.
    void add(std::span<const charge> charges, std::size_t times, std::string_view key_prefix)
    {
        add(static_cast<std::int64_t>(times));
        add(static_cast<std::int64_t>(charges.size()));
        for (const charge& c : charges) {
            const limit::terms terms = c.limit->in_microseconds();
            keys_.push_back(key_of(key_prefix, c));
            for (const std::int64_t number : terms.numbers()) {
                add(number);
            }
            // More than a full bucket is rejected whatever the number; this one is exact there,
            // too.
            add(std::min(c.cost, terms.burst + 1));
            arguments_[used_++] = c.enforced ? "1" : "0";
        }
    }

    void write(std::string& out, std::string_view sha)
    {
        std::array<std::string_view, max_words> words;
        words[0] = "EVALSHA";
        words[1] = sha;
        words[2] = numbers_.of(static_cast<std::int64_t>(keys_.size()));
        auto end = std::copy(keys_.begin(), keys_.end(), words.begin() + words_before_keys);
        end = std::copy_n(arguments_.begin(), used_, end);
        encode(out, {words.begin(), end});
    }

private:
    numerals numbers_;
    std::vector<std::string> keys_;
    std::array<std::string_view, max_arguments> arguments_;
    std::size_t used_ = 0;

    void add(std::int64_t n) { arguments_[used_++] = numbers_.of(n); }
};

}  // namespace

void encode(std::string& out, std::span<const std::string_view> words)
{
    std::array<const char*, max_words> texts;
    std::array<std::size_t, max_words> lengths;
    for (std::size_t i = 0; i < words.size(); ++i) {
        texts[i] = words[i].data();
        lengths[i] = words[i].size();
    }
    char* bytes = nullptr;
    const auto count = static_cast<int>(words.size());
    const int length = redisFormatCommandArgv(&bytes, count, texts.data(), lengths.data());
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
        const auto end = std::find_if(first, all.end(), other);
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
        "EVALSHA", script.sha, "1", key, itself, "1", "1", "1", "1000", "1", "1"};
    encode(out, words);
}

std::string key_of(std::string_view key_prefix, const charge& c)
{
    std::string key;
    key.append(key_prefix).append(c.limit_name).append(":");
    return key.append(base::sha256_hex128(c.bucket_name));
}

}  // namespace gateway::store::redis
