#include "gateway/limit/moments.hpp"

#include <algorithm>
#include <utility>

namespace gateway::limit {

moment_queue::~moment_queue()
{
    if (room_ > 0) {
        delete[] in_.own.from;
    }
}

moment_queue::moment_queue(const moment_queue& other)
{
    if (other.size_ > few) {
        in_.own = {new token_moment[other.size_], 0};
        room_ = other.size_;
    }
    size_ = other.size_;
    std::copy_n(other.begin(), size_, begin());
}

moment_queue::moment_queue(moment_queue&& other) noexcept
    : in_(other.in_), size_(std::exchange(other.size_, 0)), room_(std::exchange(other.room_, 0))
{}

moment_queue& moment_queue::operator=(moment_queue other) noexcept
{
    std::swap(in_, other.in_);
    std::swap(size_, other.size_);
    std::swap(room_, other.room_);
    return *this;
}

// Moves the moments to its own memory with room for `room`, or back in place if those are a few.
void moment_queue::move_to(std::uint32_t room)
{
    token_moment* const old = room_ == 0 ? nullptr : in_.own.from;
    if (room <= few) {
        const std::uint32_t first = in_.own.first;
        room_ = 0;
        std::copy_n(old + first, size_, in_.few_moments);
    } else {
        auto* const fresh = new token_moment[room];
        std::copy_n(begin(), size_, fresh);
        in_.own = {fresh, 0};
        room_ = room;
    }
    delete[] old;
}

void moment_queue::push_back(const token_moment& m)
{
    if (is_full()) {
        move_to(room_ == 0 ? 4 * few : 2 * room_);
    } else if (room_ > 0 && in_.own.first + size_ == room_) {
        // No fewer moments have been popped than are left, so each is moved once.
        std::copy_n(in_.own.from + in_.own.first, size_, in_.own.from);
        in_.own.first = 0;
    }
    begin()[size_++] = m;
}

void moment_queue::pop_front(std::size_t count)
{
    size_ -= static_cast<std::uint32_t>(count);
    if (room_ == 0) {
        std::copy_n(in_.few_moments + count, size_, in_.few_moments);
        return;
    }
    in_.own.first += static_cast<std::uint32_t>(count);
    if (size_ <= 1) {
        move_to(few);
    }
}

void moment_queue::remove_empty()
{
    const auto empty = [](const token_moment& m) { return m.tokens == 0; };
    size_ = static_cast<std::uint32_t>(std::remove_if(begin(), begin() + size_, empty) - begin());
}

}  // namespace gateway::limit
