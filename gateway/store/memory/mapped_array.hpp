// `mapped_array` is an array in mapped memory, all zeros at first. Pages that are never touched
// take no memory from the system.
#pragma once

#include <cstddef>
#include <new>
#include <span>
#include <sys/mman.h>

namespace gateway::store {

template <typename T>
class mapped_array {
public:
    // Errors: throws std::bad_alloc.
    explicit mapped_array(std::size_t size) : size_(size)
    {
        constexpr int writable = PROT_READ | PROT_WRITE;
        constexpr int lazy = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
        void* const memory = mmap(nullptr, size * sizeof(T), writable, lazy, -1, 0);
        if (memory == MAP_FAILED) {
            throw std::bad_alloc{};
        }
        // Huge pages mean fewer TLB misses. The kernel may ignore the advice.
        madvise(memory, size * sizeof(T), MADV_HUGEPAGE);
        at_ = static_cast<T*>(memory);
    }

    // Does not call the destructors of the elements.
    ~mapped_array() { munmap(at_, size_ * sizeof(T)); }

    mapped_array(const mapped_array&) = delete;
    mapped_array& operator=(const mapped_array&) = delete;

    T& operator[](std::size_t i) const { return at_[i]; }

    std::span<T> all() const { return {at_, size_}; }

private:
    std::size_t size_;
    T* at_;
};

}  // namespace gateway::store
