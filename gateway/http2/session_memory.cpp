#include "gateway/http2/session_memory.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <sys/mman.h>

namespace gateway::http2 {

namespace {

// Smaller memory is used as a whole, or shares its pages with other memory.
constexpr std::size_t least_for_frames = 16 * 1024;

// A system with larger pages refuses to take these, and nothing is gained.
constexpr std::size_t page = 4096;

// Gives the whole pages of memory without content back; they return as zeros when they are used.
void release_pages(void* memory, std::size_t size)
{
    const std::size_t into_page = reinterpret_cast<std::uintptr_t>(memory) % page;
    const std::size_t before = (page - into_page) % page;
    if (before < size) {
        const std::size_t whole = (size - before) / page * page;
        madvise(static_cast<char*>(memory) + before, whole, MADV_DONTNEED);
    }
}

// nghttp2 makes its buffers so, too.
void* resize(void* old, std::size_t size, void*)
{
    void* const memory = std::realloc(old, size);
    if (old == nullptr && memory != nullptr && size >= least_for_frames) {
        release_pages(memory, size);
    }
    return memory;
}

}  // namespace

nghttp2_mem* session_memory()
{
    static nghttp2_mem memory{
        nullptr,
        [](std::size_t size, void*) { return std::malloc(size); },
        [](void* old, void*) { std::free(old); },
        [](std::size_t count, std::size_t size, void*) { return std::calloc(count, size); },
        resize};
    return &memory;
}

}  // namespace gateway::http2
