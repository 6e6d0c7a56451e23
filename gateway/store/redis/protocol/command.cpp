#include "gateway/store/redis/protocol/command.hpp"

#include <hiredis/hiredis.h>

#include <new>
#include <vector>

namespace gateway::store::redis {

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
    // hiredis 0.14 returns an int, 1.x a long long.
    const auto length = redisFormatCommandArgv(&bytes, count, begins.data(), lengths.data());
    if (length < 0) {
        throw std::bad_alloc{};
    }
    out.append(bytes, static_cast<std::size_t>(length));
    redisFreeCommand(bytes);
}

void encode_login(std::string& out, const redis_options& options)
{
    if (options.password.empty()) {
        return;
    }
    std::vector<std::string_view> words{"AUTH", options.user, options.password};
    if (options.user.empty()) {
        words.erase(words.begin() + 1);
    }
    encode(out, words);
}

void encode_take(std::string& out, std::string_view script_sha, const encoded_call& encoded)
{
    texts numbers;
    for (const std::int64_t number : encoded.numbers) {
        numbers.add(number);
    }
    const std::string count = std::to_string(encoded.keys.size());
    std::vector<std::string_view> words{"EVALSHA", script_sha, count};
    words.reserve(words.size() + encoded.keys.size() + numbers.size());
    for (std::size_t i = 0; i < encoded.keys.size(); ++i) {
        words.push_back(encoded.keys[i]);
    }
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        words.push_back(numbers[i]);
    }
    encode(out, words);
}

}  // namespace gateway::store::redis
