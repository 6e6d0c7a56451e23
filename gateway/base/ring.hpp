// `ring` is a bounded queue in memory that is allocated once. Its elements never move, so that
// others may point at them.
#pragma once

#include <cstddef>
#include <memory>

namespace gateway::base {

template <typename T>
class ring {
public:
    explicit ring(std::size_t capacity)
        : capacity_(capacity), items_(std::make_unique<T[]>(capacity))
    {}

    bool empty() const { return count_ == 0; }

    bool full() const { return count_ == capacity_; }

    std::size_t size() const { return count_; }

    // Returns the i-th oldest element.
    T& operator[](std::size_t i) { return items_[index_of(i)]; }

    T& front() { return items_[first_]; }

    const T& front() const { return items_[first_]; }

    // Adds a youngest element, which holds what its slot held last, and returns it.
    // Requires: not full().
    T& push() { return items_[index_of(count_++)]; }

    void pop()
    {
        first_ = index_of(1);
        --count_;
    }

private:
    std::size_t capacity_;
    std::unique_ptr<T[]> items_;
    std::size_t first_ = 0;
    std::size_t count_ = 0;

    // Compares instead of dividing, as a division by a number that is not constant would cost more.
    std::size_t index_of(std::size_t i) const
    {
        const std::size_t at = first_ + i;
        return at < capacity_ ? at : at - capacity_;
    }
};

}  // namespace gateway::base
