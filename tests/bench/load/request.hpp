// The benchmark's requests, and the client's address in them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace bench {

// Its head but for the empty line.
inline constexpr std::string_view request_lines =
    "GET /api/v1/items/42?fields=id,name,price HTTP/1.1\r\nHost: api.example.test\r\n"
    "User-Agent: bench/1.0\r\nAccept: application/json\r\nX-Forwarded-For: 101.102.103.104\r\n"
    "X-Request-Id: 0123456789abcdef0123456789abcdef\r\n";

// What the content of a message ends with, and nothing else.
inline constexpr std::string_view message_end = R"("}]})";

inline constexpr std::size_t address_at = request_lines.find("101.102");

// One that asks a language model, with content of so many bytes, or of the least that it can have.
inline std::string message_of(std::size_t size)
{
    std::string text = R"({"model":"gpt-4o-mini","max_tokens":256,"stream":true,)"
                       R"("messages":[{"role":"user","content":")";
    while (text.size() + message_end.size() < size) {
        text += "tell me more, "[text.size() % 14];
    }
    return text.append(message_end);
}

// Every key is an address of the same width, 1xx.1xx.1xx.1xx, written over the one before.
inline void write_address(std::uint32_t key, char* at)
{
    for (int octet = 3; octet >= 0; --octet) {
        at[octet * 4 + 1] = static_cast<char>('0' + key % 100 / 10);
        at[octet * 4 + 2] = static_cast<char>('0' + key % 10);
        key /= 100;
    }
}

}  // namespace bench
