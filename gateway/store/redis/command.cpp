#include "gateway/store/redis/command.hpp"

#include "gateway/base/hash.hpp"
#include "gateway/store/redis/scripts.hpp"

#include <hiredis/hiredis.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <new>

namespace gateway::store::redis {

namespace {

constexpr std::size_t words_before_keys = 3;  // EVALSHA sha count
constexpr std::size_t arguments_per_charge = 4;
constexpr std::size_t max_words = words_before_keys + (1 + arguments_per_charge) * max_charges + 1;

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
    std::array<std::array<char, 20>, 2 + arguments_per_charge * max_charges> texts_;
    std::size_t used_ = 0;
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

void encode_take(std::string& out, const take_call& call, std::span<const charge> charges)
{
    std::array<std::string, max_charges> keys;
    std::array<std::string_view, max_words> words;
    numerals numbers;
    words[0] = call.sha.empty() ? "EVAL" : "EVALSHA";
    words[1] = call.sha.empty() ? take_script : call.sha;
    words[2] = numbers.of(static_cast<std::int64_t>(charges.size()));
    std::size_t next = words_before_keys + charges.size();
    for (std::size_t i = 0; i < charges.size(); ++i) {
        const charge& c = charges[i];
        const limit::terms terms = c.limit->in_microseconds();
        keys[i] = key_of(call.key_prefix, c);
        words[words_before_keys + i] = keys[i];
        words[next++] = numbers.of(terms.interval);
        words[next++] = numbers.of(terms.burst);
        // More than a full bucket is rejected whatever the number; this one is exact there, too.
        words[next++] = numbers.of(std::min(c.cost, terms.burst + 1));
        words[next++] = c.enforced ? "1" : "0";
    }
    words[next++] = numbers.of(call.number);
    encode(out, std::span{words}.first(next));
}

void encode_probe(std::string& out, const take_call& call)
{
    const std::string key = std::string{call.key_prefix} + "probe";
    // A token per microsecond, a thousand at most: never rejected, forgotten at once.
    const std::string number = std::to_string(call.number);
    const std::array<std::string_view, 9> words{
        "EVALSHA", call.sha, "1", key, "1", "1000", "1", "1", number};
    encode(out, words);
}

std::string key_of(std::string_view key_prefix, const charge& c)
{
    std::string key;
    key.append(key_prefix).append(c.limit_name).append(":");
    return key.append(base::sha256_hex128(c.bucket_name));
}

}  // namespace gateway::store::redis
