#include "gateway/http2/session_memory.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <span>

namespace gateway::http2 {
namespace session_memory_test {

constexpr std::size_t page = 4096;

TEST(session_memory, of_a_frame_is_not_resident_before_it_is_used)
{
    nghttp2_mem* const memory = session_memory();
    constexpr std::size_t size = 16 * page;
    // As a TLS handshake may have left it.
    void* const used = memory->malloc(size, nullptr);
    std::memset(used, 'x', size);
    memory->free(used, nullptr);
    auto* const fresh = static_cast<char*>(memory->realloc(nullptr, size, nullptr));
    const std::span whole_pages(fresh + page, size - 2 * page);
    EXPECT_EQ(std::count(whole_pages.begin(), whole_pages.end(), '\0'), whole_pages.size());
    memory->free(fresh, nullptr);
}

TEST(session_memory, keeps_what_it_has_when_it_grows)
{
    nghttp2_mem* const memory = session_memory();
    auto* text = static_cast<char*>(memory->malloc(page, nullptr));
    std::memset(text, 'x', page);
    text = static_cast<char*>(memory->realloc(text, 16 * page, nullptr));
    EXPECT_EQ(std::count(text, text + page, 'x'), page);
    memory->free(text, nullptr);
}

}  // namespace session_memory_test
}  // namespace gateway::http2
