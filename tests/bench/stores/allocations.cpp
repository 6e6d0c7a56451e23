#include "tests/bench/stores/allocations.hpp"

#include <atomic>
#include <cstddef>

// The functions of glibc behind those that are replaced here, so that what libraries allocate
// counts as well.
extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t number, std::size_t size);
void* __libc_realloc(void* old, std::size_t size);
}

namespace {

std::atomic<std::int64_t> made{0};

}  // namespace

extern "C" {

void* malloc(std::size_t size) noexcept
{
    made.fetch_add(1, std::memory_order_relaxed);
    return __libc_malloc(size);
}

void* calloc(std::size_t number, std::size_t size) noexcept
{
    made.fetch_add(1, std::memory_order_relaxed);
    return __libc_calloc(number, size);
}

void* realloc(void* old, std::size_t size) noexcept
{
    made.fetch_add(1, std::memory_order_relaxed);
    return __libc_realloc(old, size);
}
}

namespace gateway::bench {

std::int64_t allocations()
{
    return made.load(std::memory_order_relaxed);
}

}  // namespace gateway::bench
